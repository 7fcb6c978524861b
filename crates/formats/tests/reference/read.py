"""Reads captures by itself and writes what it found to values.json, which the test compares with what becalm reads.

    python3 crates/formats/tests/reference/read.py

Nothing here knows becalm's readers: it is regular expressions and the standard library, on purpose of another kind.
For each file there are, by subject and metric, the unit, which way is better, and the value of each process.
"""

import base64
import csv
import io
import json
import math
import pathlib
import re
import statistics
import struct
import zlib

HERE = pathlib.Path(__file__).parent
CAPTURES = HERE.parent / "captures"
TIME = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
LOWER, HIGHER = "lower", "higher"


class Found:
    def __init__(self):
        self.values = {}

    def add(self, subject, metric, unit, direction, *values):
        known = self.values.setdefault((subject, metric), (unit, direction, []))
        known[2].extend(values)

    def document(self):
        return [[*key, *value] for key, value in sorted(self.values.items())]


def clean(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


def google_rows(found, subject, rows):
    """rows: name, {measure: (unit, direction, value)}"""
    names = [name for name, _ in rows]
    grouped = {}
    for name, measures in rows:
        base = re.sub(r"_(mean|median|stddev|cv|min|max)$", "", name)
        if base != name and (base in names or base + "_mean" in names):
            if base in names or not name.endswith("_mean"):
                continue
            name = base
        for measure, (unit, direction, value) in measures.items():
            metric = f"{name} {measure}".strip()
            grouped.setdefault(metric, (unit, direction, []))[2].append(value)
    for metric, (unit, direction, values) in grouped.items():
        found.add(subject, metric, unit, direction, statistics.median(values))


RATES = {"bytes_per_second": "B/s", "items_per_second": "items/s", "frames": "1/s", "queries": "1/s"}


def counter(name):
    """In the program of these captures `frames` and `queries` are rates, `cost` and `depth` are none."""
    return (RATES[name], HIGHER) if name in RATES else ("", LOWER)


def google_console(text):
    found, rows, columns = Found(), [], []
    for line in clean(text).splitlines():
        if line.startswith("Benchmark  "):
            columns = [one for one in line.split()[4:] if one != "UserCounters..."]
        hit = re.match(r"(\S+)\s+([\d.]+) (ns|us|ms|s)\s+([\d.]+) (ns|us|ms|s)\s+(\d+)(.*)$", line)
        if not hit:
            continue
        name, real, real_unit, cpu, cpu_unit, _, rest = hit.groups()
        measures = {"": ("s", LOWER, float(real) * TIME[real_unit]), "cpu_time": ("s", LOWER, float(cpu) * TIME[cpu_unit])}
        pairs = zip(columns, rest.split()) if columns else re.findall(r"(\w+)=(\S+)", rest)
        for key, value in pairs:
            number, prefix = re.match(r"([\d.e+-]+)([kMGTmunp]?)(?:s|/s)?$", value).groups()
            base = 1024 if key == "bytes_per_second" else 1000
            power = {"": 0, "k": 1, "M": 2, "G": 3, "m": -1, "u": -2, "n": -3}[prefix]
            measures[key] = (*counter(key), float(number) * float(base) ** power)
        rows.append((name, measures))
    google_rows(found, "gb_demo" if "Running ./gb_demo" in text else "google-benchmark", rows)
    return found


def google_csv(text):
    found, rows = Found(), []
    head = re.search(r"^name,iterations,", text, re.M).start()
    for row in csv.DictReader(io.StringIO(text[head:])):
        if row["error_occurred"] or row["time_unit"] not in TIME:
            continue
        factor = TIME[row["time_unit"]]
        measures = {"": ("s", LOWER, float(row["real_time"]) * factor), "cpu_time": ("s", LOWER, float(row["cpu_time"]) * factor)}
        for key in ["bytes_per_second", "items_per_second", "cost", "depth", "frames", "queries"]:
            if row[key]:
                measures[key] = (*counter(key), float(row[key]))
        rows.append((row["name"], measures))
    google_rows(found, "google-benchmark", rows)
    return found


def event(name):
    return name if re.search(r"[/:.]", name) else name.replace("-", "_")


def perf_text(text):
    found = Found()
    command = re.search(r"counter stats for '?([^'\n]*)'?(?: \(\d+ runs\))?:", text).group(1)
    for place, value, unit, name in re.findall(r"^(S\d+-D\d+-C\d+ +\d+ )? *([\d,.]+) (msec|ns|) *([a-z][a-z_-]+)  +", text, re.M):
        where = " " + place.split()[0] if place else ""
        found.add(command, event(name) + where, "s" if unit else "", LOWER, float(value.replace(",", "")) * (TIME[unit] if unit else 1))
    table = re.findall(r"^ +([\d.]+) \([+-][\d.]+\) #", text, re.M)
    if table:
        found.add(command, "wall_time", "s", LOWER, *map(float, table))
    else:
        found.add(command, "wall_time", "s", LOWER, float(re.search(r"([\d.]+)(?: \+- [\d.]+)? seconds time elapsed", text).group(1)))
    for word, metric in [("user", "user_time"), ("sys", "system_time")]:
        hit = re.search(rf"([\d.]+) seconds {word}$", text, re.M)
        # An event that is counted and printed below is one.
        if hit and (command, metric) not in found.values:
            found.add(command, metric, "s", LOWER, float(hit.group(1)))
    return found


def perf_csv(text):
    found, intervals = Found(), {}
    for line in text.splitlines():
        fields = re.split("[,;]", line)
        has_time = len(fields) > 6 and re.fullmatch(r" *\d+\.\d{9}", fields[0])
        value, unit, name = fields[1:4] if has_time else (fields + ["", ""])[:3]
        if not re.fullmatch(r"[\d.]+", value) or not name:
            continue
        value = float(value) * (TIME[unit] if unit else 1)
        if has_time:
            intervals.setdefault((event(name), "s" if unit else ""), []).append(value)
        else:
            found.add("command", event(name), "s" if unit else "", LOWER, value)
    for (name, unit), values in intervals.items():
        found.add("command", name, unit, LOWER, statistics.median(values))
    return found


def clock(text):
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def gnu_time(text):
    found = Found()
    for part in re.split(r"(?=\tCommand being timed)", text):
        if "Command being timed" not in part:
            continue
        command = re.search(r'timed: "(.*)"', part).group(1)
        of = lambda label: float(re.search(rf"\t{re.escape(label)}: ([\d.]+)", part).group(1))
        found.add(command, "wall_time", "s", LOWER, clock(re.search(r"m:ss\): (\S+)", part).group(1)))
        found.add(command, "user_time", "s", LOWER, of("User time (seconds)"))
        found.add(command, "system_time", "s", LOWER, of("System time (seconds)"))
        found.add(command, "max_rss", "B", LOWER, of("Maximum resident set size (kbytes)") * 1024)
        major = of("Major (requiring I/O) page faults")
        found.add(command, "page_faults", "", LOWER, major + of("Minor (reclaiming a frame) page faults"))
        found.add(command, "major_page_faults", "", LOWER, major)
        found.add(command, "context_switches", "", LOWER, of("Voluntary context switches") + of("Involuntary context switches"))
    for user, system, wall, memory, major, minor in re.findall(
        r"([\d.]+)user ([\d.]+)system (\S+)elapsed.*avgdata (\d+)maxresident\)k\n.*\((\d+)major\+(\d+)minor", text
    ):
        found.add("command", "wall_time", "s", LOWER, clock(wall))
        found.add("command", "user_time", "s", LOWER, float(user))
        found.add("command", "system_time", "s", LOWER, float(system))
        found.add("command", "max_rss", "B", LOWER, float(memory) * 1024)
        found.add("command", "page_faults", "", LOWER, float(major) + float(minor))
        found.add("command", "major_page_faults", "", LOWER, float(major))
    return found


def apache_bench(text):
    found = Found()
    of = lambda label: re.search(rf"{label}: +(\S+)", text).group(1)
    url = f"http://{of('Server Hostname')}:{of('Server Port')}{of('Document Path')}"
    found.add(url, "latency", "s", LOWER, float(of("Time per request")) / 1e3)
    found.add(url, "requests", "requests/s", HIGHER, float(of("Requests per second")))
    found.add(url, "transfer", "B/s", HIGHER, float(of("Transfer rate")) * 1024)
    found.add(url, "failed requests", "", LOWER, float(of("Failed requests")))
    others = re.search(r"Non-2xx responses: +(\d+)", text)
    found.add(url, "other statuses than 2xx", "", LOWER, float(others.group(1)) if others else 0.0)
    return found


def go_time(text):
    return sum(float(value) * TIME[unit] for value, unit in re.findall(r"([\d.]+)(h|m(?!s)|s|ms|µs|ns)", text))


def vegeta_text(text):
    found = Found()
    of = lambda label: re.search(rf"^{label} +\[.*\] +(.*)$", text, re.M).group(1).split(", ")
    found.add("vegeta", "latency", "s", LOWER, go_time(of("Latencies")[2]))
    total, _, throughput = map(float, of("Requests"))
    found.add("vegeta", "requests", "requests/s", HIGHER, throughput)
    found.add("vegeta", "transfer", "B/s", HIGHER, float(of("Bytes In")[0]) / go_time(of("Duration")[0]))
    share = float(of("Success")[0].rstrip("%")) / 100
    found.add("vegeta", "success", "", HIGHER, share)
    found.add("vegeta", "failures", "", LOWER, float(round(total * (1 - share))))
    return found


def vegeta_json(text):
    found, report = Found(), json.loads(text)
    found.add("vegeta", "latency", "s", LOWER, report["latencies"]["50th"] / 1e9)
    found.add("vegeta", "requests", "requests/s", HIGHER, report["throughput"])
    found.add("vegeta", "transfer", "B/s", HIGHER, report["bytes_in"]["total"] / ((report["duration"] + report["wait"]) / 1e9))
    found.add("vegeta", "success", "", HIGHER, float(report["success"]))
    found.add("vegeta", "failures", "", LOWER, float(report["requests"] - report["status_codes"].get("200", 0)))
    return found


def autocannon_json(text):
    found, report = Found(), json.loads(text)
    url = report["url"]
    found.add(url, "latency", "s", LOWER, report["latency"]["average"] / 1e3)
    found.add(url, "requests", "requests/s", HIGHER, float(report["requests"]["average"]))
    found.add(url, "transfer", "B/s", HIGHER, float(report["throughput"]["average"]))
    for metric, key in [("errors", "errors"), ("timeouts", "timeouts"), ("other statuses than 2xx", "non2xx")]:
        found.add(url, metric, "", LOWER, float(report[key]))
    return found


def autocannon_text(text):
    found, text = Found(), clean(text)
    url = re.search(r" test @ (\S+)", text)
    url = url.group(1) if url else "autocannon"
    row = lambda label: [cell.strip() for cell in re.search(rf"│ {label} +│(.*)│", text).group(1).split("│")]
    found.add(url, "latency", "s", LOWER, float(row("Latency")[4].split()[0]) / 1e3)
    found.add(url, "requests", "requests/s", HIGHER, float(row("Req/Sec")[4]))
    found.add(url, "transfer", "B/s", HIGHER, float(row("Bytes/Sec")[4].split()[0]) * 1000)
    others = re.search(r"(\d+) non 2xx", text)
    if others:
        found.add(url, "other statuses than 2xx", "", LOWER, float(others.group(1)))
    return found


def wrk(text):
    found = Found()
    url = re.search(r" test @ (\S+)", text).group(1)
    unit = lambda value: float(re.match(r"[\d.]+", value).group()) * TIME[re.search(r"[a-z]+$", value).group()]
    found.add(url, "latency", "s", LOWER, unit(re.search(r"Latency +(\S+)", text).group(1)))
    found.add(url, "requests per thread", "requests/s", HIGHER, float(re.search(r"Req/Sec +([\d.]+) ", text).group(1)))
    found.add(url, "requests", "requests/s", HIGHER, float(re.search(r"Requests/sec: +(\S+)", text).group(1)))
    found.add(url, "transfer", "B/s", HIGHER, float(re.search(r"Transfer/sec: +([\d.]+)KB", text).group(1)) * 1024)
    others = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    for metric in ["connect errors", "read errors", "write errors", "timeouts"]:
        found.add(url, metric, "", LOWER, 0.0)
    found.add(url, "other statuses than 2xx and 3xx", "", LOWER, float(others.group(1)) if others else 0.0)
    return found


def fio(text):
    found = Found()
    document, _ = json.JSONDecoder().raw_decode(text[re.search(r"^\{", text, re.M).start() :])
    for job in document["jobs"]:
        for side in ["read", "write", "trim"]:
            one = job[side]
            if one["total_ios"]:
                name = f"{job['jobname']} {side}"
                found.add("fio", f"{name} bandwidth", "B/s", HIGHER, float(one["bw_bytes"]))
                found.add("fio", f"{name} iops", "1/s", HIGHER, one["iops"])
                found.add("fio", f"{name} latency", "s", LOWER, one["lat_ns"]["mean"] / 1e9)
    return found


JMH = {"ops/us": ("ops/s", 1e6), "us/op": ("s", 1e-6), "ms/op": ("s", 1e-3), "MB/sec": ("B/s", 1e6), "B/op": ("B", 1.0)}


def jmh_name(benchmark, parameters, mode, all_modes):
    name = f"{benchmark} ({', '.join(f'{k}={v}' for k, v in parameters)})"
    return f"{name} {mode}" if len(all_modes) > 1 else name


def jmh_csv(text):
    found = Found()
    rows = list(csv.DictReader(io.StringIO(text), delimiter=";" if ";" in text.splitlines()[0] else ","))
    modes = {}
    for row in rows:
        modes.setdefault(row["Benchmark"].split(":")[0], set()).add(row["Mode"])
    for row in rows:
        if ":" in row["Benchmark"]:
            continue
        parameters = [(key[7:], value) for key, value in row.items() if key.startswith("Param: ")]
        unit, factor = JMH[row["Unit"]]
        direction = HIGHER if row["Mode"] == "thrpt" else LOWER
        name = jmh_name(row["Benchmark"], parameters, row["Mode"], modes[row["Benchmark"]])
        found.add("JMH", name, unit, direction, float(row["Score"]) * factor)
    return found


def jmh_text(text):
    """Iterations of forks where they are printed, and otherwise the scores of the table."""
    found, forks, table, modes = Found(), {}, False, {}
    names = {"Throughput": "thrpt", "Average time": "avgt", "Sampling time": "sample", "Single shot invocation time": "ss"}
    rows = []
    for line in text.splitlines():
        if line.startswith("# Benchmark mode: "):
            mode = names[line[18:].split(",")[0]]
        elif line.startswith("# Benchmark: "):
            benchmark = ".".join(line[13:].split(".")[-2:])
        elif line.startswith("# Parameters: "):
            parameters = tuple(re.findall(r"(\w+) = ([^)]*?)(?=, \w+ = |\))", line))
        elif line.startswith("# Fork: "):
            forks.setdefault((benchmark, parameters, mode), []).append([])
        elif re.match(r"Iteration +\d+: ", line):
            words = line.split(": ", 1)[1].split()
            known = re.fullmatch(r"[\d.]+", words[0])
            forks[benchmark, parameters, mode][-1].append(float(words[0]) * JMH[words[-1]][1] if known else None)
        elif line.startswith("Benchmark ") and line.endswith("Units"):
            table = [word.strip("()") for word in line.split() if word.startswith("(")]
        elif table is not False and line.strip():
            hit = re.match(r"(\S+) +(.*?) +(thrpt|avgt|sample|ss) +(\d+)? +(≈ \S+|[\d.]+)(?: ± +[\d.]+)? +(\S+)$", line)
            rows.append((hit.group(1), tuple(zip(table, hit.group(2).split())), hit.group(3), hit.group(5), hit.group(6)))
        elif not line.strip():
            table = False
    for name, parameters, mode, *_ in rows:
        modes.setdefault((name.split(":")[0], parameters), set()).add(mode)
    for name, parameters, mode, score, unit in rows:
        base, _, measure = name.partition(":")
        if score.startswith("≈") or re.match(r"p\d", measure):
            continue
        unit, factor = JMH[unit]
        full = f"{jmh_name(base, parameters, mode, modes[base, parameters])} {measure}".strip()
        direction = HIGHER if mode == "thrpt" and not measure else LOWER
        of_forks = [] if measure else forks.get((base, parameters, mode), [])
        if any(value is None for fork in of_forks for value in fork):
            of_forks = []
        values = [statistics.median(fork) for fork in of_forks] or [float(score) * factor]
        found.add("JMH", full, unit, direction, *values)
    return found


def pytest_table(text):
    found = Found()
    unit, columns = None, []
    for line in clean(text).splitlines():
        head = re.match(r"Name \(time in (\w+)\)(.*)", line)
        if head:
            unit, columns = TIME[head.group(1)], re.split(r" {2,}", head.group(2).strip())
        elif not line.strip():
            unit = None
        elif unit and not line.startswith("---"):
            cells = re.split(r" {2,}", line.strip())
            name = re.match(r"(.*?)(?: \((.*)\))?$", cells[0])
            subject = "pytest" if name.group(2) in (None, "NOW") else name.group(2)
            median = cells[1 + columns.index("Median")].split(" (")[0].replace(",", "")
            found.add(subject, name.group(1), "s", LOWER, float(median) * unit)
    return found


def mitata_json(text):
    found, document = Found(), json.loads(text)
    for benchmark in document["benchmarks"]:
        group = document["layout"][benchmark["group"]]["name"]
        for run in benchmark["runs"]:
            name = f"{group} > {run['name']}" if group else run["name"]
            stats = run["stats"]
            value = statistics.median(stats["samples"]) if stats["samples"] else stats["p50"]
            found.add("mitata", name, "s", LOWER, value / 1e9)
            found.add("mitata", f"{name} heap", "B", LOWER, stats["heap"]["avg"])
    return found


def mitata_text(text):
    """A group begins with its name above a rule, or with the rule alone; in Markdown it is the head of a table."""
    found, group, before = Found(), "", ""
    for line in clean(text).splitlines():
        if re.fullmatch("[- ]+", line) and "---" in line:
            group = before[2:] + " > " if before.startswith("• ") else ""
        table = re.match(r"\| (• (.*?)|benchmark|) +\| +avg \|", line)
        if table:
            group = table.group(2) + " > " if table.group(2) else ""
        hit = re.match(r"(?:\| )?(\S.*?)(?: +\| `)? +([\d.']+) (ps|ns|µs|ms|s)/iter", line.replace("| `", "| ` "))
        if hit:
            value = float(hit.group(2).replace("'", ""))
            found.add("mitata", group + hit.group(1), "s", LOWER, value * TIME[hit.group(3)])
        before = line
    return found


def sysbench(text):
    found = Found()
    threads = re.search(r"Number of threads: (\d+)", text).group(1)
    del threads
    events = re.search(r"events per second: +([\d.]+)", text)
    rate = lambda name, unit, value: found.add("sysbench", name, unit, HIGHER, value)
    if events:
        rate("events", "1/s", float(events.group(1)))
    total = re.search(r"Total operations: \d+ \(([\d.]+) per second\)", text)
    if total:
        rate("total operations", "1/s", float(total.group(1)))
        rate("transferred", "B/s", float(re.search(r"\(([\d.]+) MiB/sec\)", text).group(1)) * 2**20)
    for name in ["reads", "writes", "fsyncs"]:
        hit = re.search(rf"{name}/s: +([\d.]+)", text)
        if hit:
            rate(name, "1/s", float(hit.group(1)))
    for name in ["read", "written"]:
        hit = re.search(rf"{name}, MiB/s: +([\d.]+)", text)
        if hit:
            rate(name, "B/s", float(hit.group(1)) * 2**20)
    if not found.values:
        seconds = float(re.search(r"total time: +([\d.]+)s", text).group(1))
        rate("events", "1/s", float(re.search(r"total number of events: +(\d+)", text).group(1)) / seconds)
    found.add("sysbench", "latency", "s", LOWER, float(re.search(r"avg: +([\d.]+)", text).group(1)) / 1e3)
    return found


SIZE = {"B": 1, "KB": 1024, "MB": 1024**2}


def markdown_rows(text):
    """Cells of the rows of tables, each with the head above it."""
    head = None
    for line in text.splitlines():
        if not line.strip().startswith("|"):
            head = None if line.strip() else head
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if head is None:
            head = cells
        elif not re.fullmatch(r"[|:\-+ ]+", line.strip()) and any(cells):
            yield head, cells


def benchmark_dotnet(text):
    found = Found()
    for head, cells in markdown_rows(text):
        row = {title: cell.strip("*").replace("\\|", "|") for title, cell in zip(head, cells)}
        first = next(at for at, title in enumerate(head) if title.startswith("Mean"))
        parameters = [f"{title}={row[title]}" for title in head[:first] if title != "Method"]
        name = f"{row['Method']} ({', '.join(parameters)})"
        chosen = next((title for title in head if title.startswith("Median")), head[first])
        if row[chosen] == "NA":
            continue
        number, unit = re.match(r"([\d.,]+) ?(\w*)", row[chosen]).groups()
        unit = unit or re.search(r"\[(\w+)\]", chosen).group(1)
        found.add("BenchmarkDotNet", name, "s", LOWER, float(number.replace(",", "")) * TIME[unit])
        size = next(title for title in head if title.startswith("Allocated"))
        if row[size] != "-":
            number, unit = re.match(r"([\d.,]+) ?(\w*)", row[size]).groups()
            unit = unit or re.search(r"\[(\w+)\]", size).group(1)
            found.add("BenchmarkDotNet", f"{name} allocated", "B", LOWER, float(number) * SIZE[unit])
    return found


def nanobench(text):
    """Names are the last and may hold bars; a column that the head lacks, `complexityN`, stands first."""
    found, titles = Found(), []
    for line in text.splitlines():
        row = re.match(r"\|(.*)\|(?: :wavy_dash:)? `((?:[^`]|``)*)`", line)
        if row:
            cells = [cell.strip().replace(",", "") for cell in row.group(1).split("|")]
            name = row.group(2).replace("``", "`")
            for title, cell in zip(reversed(titles), reversed(cells)):
                top = title.split("/")[0]
                if top in TIME:
                    found.add("nanobench", name, "s", LOWER, float(cell) * TIME[top])
                elif top in ("ins", "cyc", "bra"):
                    found.add("nanobench", f"{name} {top}", "", LOWER, float(cell))
        elif "err%" in line:
            titles = [cell.strip() for cell in line.strip("|").split("|")][:-1]
    return found


def nanobench_json(text):
    found = Found()
    counters = {"pagefaults": "page_faults", "cpucycles": "cycles", "contextswitches": "context_switches",
                "instructions": "instructions", "branchinstructions": "branches", "branchmisses": "branch_misses"}
    for result in json.loads(text)["results"]:
        name = f"{result['title']} / {result['name']}"
        measurements = result["measurements"]
        found.add("nanobench", name, "s", LOWER, statistics.median(one["elapsed"] for one in measurements))
        for field, ours in counters.items():
            if any(one.get(field) for one in measurements):
                found.add("nanobench", f"{name} {ours}", "", LOWER, statistics.median(one[field] for one in measurements))
    return found


def tinybench_table(text):
    """The median where there is one, which stands behind the mean."""
    found = Found()
    for line in text.splitlines():
        row = re.match(r"│ +\d+ +│ (['\"`]?)(.*?)\1 +│ *(.*)", line)
        if row:
            cells = [cell.strip(" '\"") for cell in row.group(3).split("│")]
            cell = cells[1].split(" ± ")[0]
            if cell:
                found.add("tinybench", row.group(2), "s", LOWER, float(cell) / 1e9)
    return found


def locust(text):
    found = Found()
    rows = csv.DictReader(io.StringIO(text))
    for row in rows:
        name = f"{row['Type']} {row['Name']}".strip()
        found.add("locust", name, "s", LOWER, float(row["Average Response Time"]) / 1e3)
        found.add("locust", f"{name} requests", "requests/s", HIGHER, float(row["Requests/s"]))
        found.add("locust", f"{name} failures", "", LOWER, float(row["Failure Count"]))
    return found


def locust_json(text):
    found, requests = Found(), json.loads(text)
    seconds = max(one["last_request_timestamp"] for one in requests) - min(one["start_time"] for one in requests)
    for one in requests:
        name = f"{one['method']} {one['name']}"
        found.add("locust", name, "s", LOWER, one["total_response_time"] / one["num_requests"] / 1e3)
        found.add("locust", f"{name} requests", "requests/s", HIGHER, one["num_requests"] / seconds)
        found.add("locust", f"{name} failures", "", LOWER, float(one["num_failures"]))
    return found


def locust_text(text):
    found = Found()
    table = text[text.rindex("# reqs      # fails") : text.index("Response time percentiles")]
    for name, failures, mean, rate in re.findall(r"^(.*?) +\d+ +(\d+)\(.*?\) \| +(\d+) .*?\| +([\d.]+) ", table, re.M):
        name = " ".join(name.split())
        found.add("locust", name, "s", LOWER, float(mean) / 1e3)
        found.add("locust", f"{name} requests", "requests/s", HIGHER, float(rate))
        found.add("locust", f"{name} failures", "", LOWER, float(failures))
    return found


def artillery(median, rate, errors, others):
    found = Found()
    found.add("artillery", "latency", "s", LOWER, median / 1e3)
    found.add("artillery", "requests", "requests/s", HIGHER, rate)
    found.add("artillery", "errors", "", LOWER, errors)
    found.add("artillery", "other statuses than 2xx and 3xx", "", LOWER, others)
    return found


def artillery_json(text):
    one = json.loads(text)["aggregate"]
    if "summaries" in one:
        counters = one["counters"]
        of = lambda start: {name[len(start) :]: float(count) for name, count in counters.items() if name.startswith(start)}
        median, rate = one["summaries"]["http.response_time"]["median"], one["rates"]["http.request_rate"]
        errors, codes = of("errors."), of("http.codes.")
    else:
        median, rate, errors, codes = one["latency"]["median"], one["rps"]["mean"], one["errors"], one["codes"]
    others = sum(count for code, count in codes.items() if code[0] not in "23")
    return artillery(median, rate, float(sum(errors.values())), float(others))


def artillery_text(text):
    text = text[text.rindex("Summary report") :]
    first = lambda *patterns: next(float(hit.group(1)) for hit in (re.search(one, text) for one in patterns) if hit)
    median = first(r"http\.response_time:\n(?:  .*\n)*?  median: \.* ([\d.]+)", r"Response time \(msec\):\n(?: .*\n)*? +median: ([\d.]+)")
    rate = first(r"http\.request_rate: \.* ([\d.]+)/sec", r"Mean response/sec: ([\d.]+)")
    codes = re.findall(r"^(?: +|http\.codes\.)(\d{3}):[ .]* (\d+)$", text, re.M)
    others = sum(float(count) for code, count in codes if code[0] not in "23")
    errors = re.findall(r"^(?: +E[A-Z]+|errors\.\w+):[ .]* (\d+)$", text, re.M)
    return artillery(median, rate, float(sum(map(int, errors))), others)


def hyperfine_row(found, command, mean, unit):
    found.add(command.replace("\\|", "|"), "wall_time", "s", LOWER, float(mean.split("±")[0]) * TIME[unit])


def hyperfine_asciidoc(text):
    found = Found()
    unit = re.search(r"Mean \[(\w+)\]", text).group(1)
    for command, mean in re.findall(r"^\| `(.*)` *\n\| (.*?) *$", text, re.M):
        hyperfine_row(found, command, mean, unit)
    return found


def hyperfine_org(text):
    found = Found()
    unit = re.search(r"Mean \[(\w+)\]", text).group(1)
    for command, mean in re.findall(r"^\| =(.*)=  \|  (.*?) \|", text, re.M):
        hyperfine_row(found, command, mean, unit)
    return found


def jmeter(rows):
    """rows: label, start and time in ms, latency in ms, bytes, whether it succeeded; what a file has not is None"""
    found, labels = Found(), {}
    for row in rows:
        labels.setdefault(row[0], []).append(row)
    has_start = all(row[1] is not None for row in rows)
    seconds = has_start and (max(start + time for _, start, time, *_ in rows) - min(row[1] for row in rows)) / 1e3
    for label, of in labels.items():
        found.add("JMeter", label, "s", LOWER, statistics.median(row[2] for row in of) / 1e3)
        if of[0][3] is not None:
            found.add("JMeter", f"{label} latency", "s", LOWER, statistics.median(row[3] for row in of) / 1e3)
        found.add("JMeter", f"{label} failures", "", LOWER, float(sum(not row[5] for row in of)))
        if seconds:
            found.add("JMeter", f"{label} requests", "requests/s", HIGHER, len(of) / seconds)
            if of[0][4] is not None:
                found.add("JMeter", f"{label} transfer", "B/s", HIGHER, sum(row[4] for row in of) / seconds)
    return found


def jmeter_csv(text):
    rows = csv.DictReader(io.StringIO(text), delimiter=re.search(r"timeStamp(\W)", text).group(1))
    number = lambda one, column: int(one[column]) if column in one and one[column].isdigit() else None
    return jmeter([
        (one["label"], *(number(one, column) for column in ["timeStamp", "elapsed", "Latency", "bytes"]), one["success"] == "true")
        for one in rows
    ])


def jmeter_xml(text):
    import xml.etree.ElementTree as tree

    samples = tree.fromstring(text)
    return jmeter([
        (one.get("lb"), int(one.get("ts")), int(one.get("t")), int(one.get("lt")), int(one.get("by")), one.get("s") == "true")
        for one in samples
    ])


def criterion_csv(text):
    found, samples = Found(), {}
    for row in csv.DictReader(io.StringIO(text)):
        name = "/".join(filter(None, [row["group"], row["function"], row["value"]]))
        value = float(row.get("sample_measured_value") or row["sample_time_nanos"]) / float(row["iteration_count"]) / 1e9
        samples.setdefault(name, []).append(value)
    for name, values in samples.items():
        found.add("criterion", name, "s", LOWER, statistics.median(values))
    return found


def k6(text):
    found, last = Found(), ""
    subject = re.search(r"script: (\S+)", text)
    subject = subject.group(1) if subject else "k6"
    bad = re.compile("fail|error|dropped|timeout|retries|interrupted")
    milliseconds = lambda one: sum(float(v) * TIME[u] * 1e3 for v, u in re.findall(r"([\d.]+)(h|ms|µs|ns|m|s)", one))
    for mark, name, value in re.findall(r"^ *([✓✗] )?(\{ \S+ \}|[\w.]+?)\.{2,}: (.*?) *$", text, re.M):
        if name.startswith("{"):
            name = last + name.replace(" ", "")
        else:
            last = name
        direction = LOWER if bad.search(name) else HIGHER
        figures = dict(re.findall(r"(\S+)=(\S+)", value))
        if value[0].isalpha():
            one = figures.get("p(95)") or figures["med"]
            is_time = re.search(r"[a-zµ]$", one)
            found.add(subject, name, "s" if is_time else "", LOWER, milliseconds(one) * 1e-3 if is_time else float(one))
        elif figures:
            found.add(subject, name, "", LOWER, float(value.split()[0]))
        elif "%" in value:
            hits, total = map(float, re.search(r"(\d+) out of (\d+)", value).groups())
            found.add(subject, name, "", direction, hits / total)
        else:
            size = re.match(r"([\d.]+) (k?M?)B +([\d.]+) (k?M?)B/s", value)
            prefix = {"": 1.0, "k": 1e3, "M": 1e6}
            if size:
                found.add(subject, f"{name} rate", "B/s", direction, float(size.group(3)) * prefix[size.group(4)])
                found.add(subject, name, "B", direction, float(size.group(1)) * prefix[size.group(2)])
            else:
                count, rate = re.match(r"(\d+) +([\d.]+)/s", value).groups()
                found.add(subject, f"{name} rate", "1/s", direction, float(rate))
                found.add(subject, name, "", direction, float(count))
    return found


def hdr_counts(text):
    """Counts by the largest value of each bucket (HdrHistogram's encoding V2: ZigZag LEB128, a negative count skips buckets)."""
    outer = base64.b64decode(text)
    inner = zlib.decompress(outer[8:])
    _, length, _, digits, lowest = struct.unpack(">iiiiq", inner[:24])
    unit = max(lowest, 1).bit_length() - 1
    half = (2 * 10**digits - 1).bit_length() - 1
    counts, at, index = {}, 40, 0
    while at < 40 + length:
        number, shift = 0, 0
        while True:
            byte, at = inner[at], at + 1
            number |= (byte & (0x7F if shift < 56 else 0xFF)) << shift
            shift += 7
            if byte < 0x80 or shift > 56:
                break
        number = (number >> 1) ^ -(number & 1)
        if number < 0:
            index -= number
            continue
        bucket, sub = max((index >> half) - 1, 0), index & ((1 << half) - 1)
        sub += 1 << half if index >> half else 0
        if number:
            counts[((sub + 1) << (bucket + unit)) - 1] = number
        index += 1
    return counts


def hdr_log(text):
    found, tags = Found(), {}
    for tag, largest, histogram in re.findall(r"^(?:Tag=(\S+?),)?[-\d.]+,[-\d.]+,([-\d.]+),(\S+)$", text, re.M):
        counts, scale = tags.setdefault(tag or "latency", ({}, []))
        one = hdr_counts(histogram)
        for value, count in one.items():
            counts[value] = counts.get(value, 0) + count
        if float(largest):
            scale.append(1e-3 / 10 ** round(math.log10(max(one) / float(largest))))
    for tag, (counts, scale) in tags.items():
        middle, seen = sum(counts.values()) / 2, 0
        for value in sorted(counts):
            seen += counts[value]
            if seen >= middle:
                found.add(tag, "latency", "s", LOWER, value * (scale[0] if scale else 1e-9))
                break
    return found


FILES = {
    "apache-bench/*.txt": ("apache-bench", apache_bench),
    "autocannon/*.json": ("autocannon", autocannon_json),
    "autocannon/*.txt": ("autocannon-text", autocannon_text),
    "artillery/*.json": ("artillery", artillery_json),
    "artillery/*.txt": ("artillery-text", artillery_text),
    "benchmarkdotnet/*.md": ("benchmarkdotnet-markdown", benchmark_dotnet),
    "criterion-csv/*.csv": ("criterion-csv", criterion_csv),
    "hdr-log/*": ("hdr-log", hdr_log),
    "hyperfine/*.adoc": ("hyperfine-asciidoc", hyperfine_asciidoc),
    "hyperfine/*.org": ("hyperfine-org", hyperfine_org),
    "jmeter/*.csv.jtl": ("jmeter", jmeter_csv),
    "jmeter/*.xml.jtl": ("jmeter-xml", jmeter_xml),
    "k6/*.txt": ("k6-console", k6),
    "locust/*.csv": ("locust", locust),
    "locust/*.json": ("locust-json", locust_json),
    "locust/*.txt": ("locust-text", locust_text),
    "nanobench/*.json": ("nanobench", nanobench_json),
    "nanobench/*.md": ("nanobench-markdown", nanobench),
    "tinybench/*.txt": ("tinybench-table", tinybench_table),
    "fio/*": ("fio", fio),
    "gnu-time/*": ("gnu-time", gnu_time),
    "google-benchmark/*.csv": ("google-benchmark-csv", google_csv),
    "google-benchmark/*.txt": ("google-benchmark-console", google_console),
    "jmh/*.csv": ("jmh-csv", jmh_csv),
    "jmh/*.txt": ("jmh-text", jmh_text),
    "mitata/*.json": ("mitata", mitata_json),
    "mitata/*.txt": ("mitata-text", mitata_text),
    "perf-stat/*.csv": ("perf-stat-csv", perf_csv),
    "perf-stat/*.txt": ("perf-stat", perf_text),
    "pytest-benchmark/*.txt": ("pytest-benchmark-table", pytest_table),
    "sysbench/*": ("sysbench", sysbench),
    "vegeta/*.json": ("vegeta", vegeta_json),
    "vegeta/*.txt": ("vegeta-text", vegeta_text),
    "wrk/*": ("wrk", wrk),
}


def main():
    files = []
    for pattern, (name, read) in FILES.items():
        for path in sorted(CAPTURES.glob(pattern)):
            values = read(path.read_text()).document()
            files.append({"file": str(path.relative_to(CAPTURES)), "format": name, "values": values})
    lines = [json.dumps(one, ensure_ascii=False) for one in files]
    (HERE / "values.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


main()
