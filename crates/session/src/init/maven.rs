//! Benchmarks of Maven projects: modules that depend on JMH.

use super::tree::{Tree, base, join, parent};
use super::{Finds, Found, key, words};

/// Builds without steps that are irrelevant to speed: tests, and checks of licences and style,
/// which look for files that an archive of sources may lack. Maven writes
/// why it failed to standard output, which a `setup` does not show.
const MAVEN: &str =
    "mvn --quiet --batch-mode -DskipTests -Dlicense.skip -Dcheckstyle.skip -Drat.skip";

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    for (path, text) in tree.named("pom.xml") {
        let own = without_parent(text);
        let is_used =
            block(&own, "dependencies").any(|block| block.contains("<artifactId>jmh-core<"));
        if !is_used || block(&own, "modules").next().is_some() {
            continue;
        }
        let artifact = element(&own, "artifactId").unwrap_or("benchmarks");
        let folder = parent(path);
        let root = root_of(tree, folder);
        let module = folder.strip_prefix(root).unwrap_or(folder).trim_start_matches('/');
        let target =
            if module.is_empty() { "target".to_owned() } else { format!("{module}/target") };
        let of_module = if module.is_empty() {
            String::new()
        } else {
            format!(" -pl {} -am", shell_words::quote(module))
        };
        let (command, setup, how) = match jar(&own, text, artifact) {
            Some(jar) => (
                vec!["java".to_owned(), "-jar".to_owned(), format!("{target}/{jar}")],
                format!("{MAVEN} package{of_module} >&2"),
                "a jar of its own".to_owned(),
            ),
            None => (
                words(&["java", &format!("@{target}/jmh.args"), "org.openjdk.jmh.Main"]),
                class_path(&target, &of_module),
                "its class path".to_owned(),
            ),
        };
        finds.benchmarks.push(Found {
            name: key(if folder.is_empty() { artifact } else { base(folder) }),
            command,
            harness: Some("jmh"),
            folder: root.to_owned(),
            setup: Some(setup),
            tag: "maven",
            comments: vec![format!("{path} depends on JMH; started from {how}")],
            ..Found::default()
        });
    }
    finds
}

/// Writes the class path of a module, tests included, as arguments for `java`.
fn class_path(target: &str, of_module: &str) -> String {
    let target = shell_words::quote(target);
    format!(
        "{MAVEN} test-compile dependency:build-classpath \
         -Dmdep.outputFile=target/jmh.path{of_module} >&2 && \
         echo \"-cp {target}/test-classes:{target}/classes:$(cat {target}/jmh.path)\" > {target}/jmh.args"
    )
}

/// Returns the name of the jar with everything in it, if the shade plugin makes one. Only the
/// plugin's own section names it.
fn jar(own: &str, text: &str, artifact: &str) -> Option<String> {
    let shade = block(own, "plugin").find(|plugin| plugin.contains("maven-shade-plugin"))?;
    let version = element(own, "version").or_else(|| element(text, "version")).unwrap_or("0");
    if let Some(name) = element(shade, "finalName") {
        return Some(format!("{}.jar", filled(name, own, artifact, version)));
    }
    let build = block(own, "build").next().unwrap_or_default();
    let plugins = build.find("<plugins>").unwrap_or(build.len());
    let name = element(&build[..plugins], "finalName")
        .unwrap_or("${project.artifactId}-${project.version}");
    let suffix = match element(shade, "shadedArtifactAttached") {
        Some("true") => format!("-{}", element(shade, "shadedClassifierName").unwrap_or("shaded")),
        _ => String::new(),
    };
    Some(format!("{}{suffix}.jar", filled(name, own, artifact, version)))
}

/// Fills in the properties of a name.
fn filled(name: &str, own: &str, artifact: &str, version: &str) -> String {
    let mut name = name.to_owned();
    // A property may hold another one; nobody has more than a few.
    for _ in 0..8 {
        let Some((before, rest)) = name.split_once("${") else { break };
        let Some((property, after)) = rest.split_once('}') else { break };
        let value = match property {
            "project.artifactId" | "artifactId" => artifact,
            "project.version" | "version" => version,
            property => {
                let properties = block(own, "properties").next().unwrap_or_default();
                element(properties, property).unwrap_or_default()
            }
        };
        name = format!("{before}{value}{after}");
    }
    name
}

/// Returns the folder from which Maven is to be started: that of the topmost project whose modules lead here.
fn root_of<'a>(tree: &Tree, folder: &'a str) -> &'a str {
    let mut root = folder;
    let mut above = folder;
    while !above.is_empty() {
        let from = above;
        above = parent(above);
        let Some(text) = tree.files.get(&join(above, "pom.xml")).and_then(Option::as_deref) else {
            continue;
        };
        let inside = from.strip_prefix(above).unwrap_or(from).trim_start_matches('/');
        let leads = block(text, "modules").any(|block| block.contains(&format!(">{inside}<")));
        if !leads || root != from {
            break;
        }
        root = above;
    }
    root
}

/// Removes what a project says about its parent, whose elements have the same names, and comments.
fn without_parent(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    match (kept.find("<parent>"), kept.find("</parent>")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{}", &kept[..start], &kept[end + "</parent>".len()..])
        }
        _ => kept,
    }
}

/// Returns what stands between the tags of an element, each time that it is there.
fn block<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&open)?;
        let (inside, behind) = after.split_once(&close)?;
        rest = behind;
        Some(inside)
    })
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    block(text, name).next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    const JMH: &str =
        "<dependencies><dependency><artifactId>jmh-core</artifactId></dependency></dependencies>";
    const SHADE: &str = "<plugin><artifactId>maven-shade-plugin</artifactId>";

    #[track_caller]
    fn check(pom: &str, command: &str) {
        let pom = format!(
            "<project><parent><artifactId>up</artifactId><version>9</version></parent><artifactId>b</artifactId>{JMH}{pom}</project>"
        );
        let finds = find(&tree(&[("pom.xml", &pom)]));
        assert_eq!(finds.benchmarks[0].command.join(" "), command);
        assert_eq!(finds.benchmarks[0].name, "b");
    }

    #[test]
    fn the_jar_has_the_name_that_the_plugin_gives_it() {
        let named = "<finalName>${jar}</finalName></plugin>";
        check(
            &format!("<properties><jar>all-${{project.version}}</jar></properties>{SHADE}{named}"),
            "java -jar target/all-9.jar",
        );
        check(&format!("<version>1</version>{SHADE}</plugin>"), "java -jar target/b-1.jar");
        check(
            &format!(
                "<build><finalName>x</finalName><plugins>{SHADE}<shadedArtifactAttached>true</shadedArtifactAttached></plugin></plugins></build>"
            ),
            "java -jar target/x-shaded.jar",
        );
        check("", "java @target/jmh.args org.openjdk.jmh.Main");
        check(&format!("<!-- {SHADE}</plugin> -->"), "java @target/jmh.args org.openjdk.jmh.Main");
    }

    #[test]
    fn a_module_is_built_from_the_root_of_its_project() {
        let bench = format!("<project><artifactId>m</artifactId>{JMH}{SHADE}</plugin></project>");
        let finds = find(&tree(&[
            ("java/pom.xml", "<project><modules><module>bench</module></modules></project>"),
            ("java/bench/pom.xml", &bench),
            ("other/pom.xml", "<project><artifactId>o</artifactId></project>"),
        ]));
        let found = &finds.benchmarks[0];
        assert_eq!((finds.benchmarks.len(), found.folder.as_str()), (1, "java"));
        assert_eq!(found.command[2], "bench/target/m-0.jar");
        assert!(found.setup.as_deref().unwrap().ends_with("package -pl bench -am >&2"));
    }
}
