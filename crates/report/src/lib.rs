//! Turns records into text, Markdown, SVG and HTML without any I/O.
