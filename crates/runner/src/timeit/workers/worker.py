# The worker of `becalm timeit` for Python: times the statement that lies beside it.
#
#     worker.py calibrate MIN_NANOSECONDS      doubles the loops until a value takes so long
#     worker.py run LOOPS WARMUPS VALUES       times values of so many loops
#
# It imports nothing that Python has not loaded already: its start is no part of a value, but of the time that
# the user waits. The loop is that of the standard library's timeit and of pyperf.
import itertools
import os
import sys
import time

MOST_LOOPS = 2**32

folder = os.path.dirname(os.path.abspath(__file__))
# Modules are found as with `python -c`: in the folder that becalm was started in, and not beside this file.
sys.path[0] = ""

# What the statement prints must not come between the results.
results = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def indent(text, by):
    return text.replace("\n", "\n" + " " * by)


def compiled():
    setup, statement, teardown = read("setup"), read("statement"), read("teardown")
    # Alone first, so that a mistake is shown with the line numbers of the user, and code that is no statement
    # where it stands (`return`, a closing bracket) is refused.
    for name, text in (("setup", setup), ("statement", statement), ("teardown", teardown)):
        SHOWN["<%s>" % name] = text
        compile(text, "<%s>" % name, "exec")
    source = """def inner(becalm_repeat, becalm_clock):
    {setup}
    becalm_start = becalm_clock()
    for becalm_each in becalm_repeat:
        {statement}
    becalm_end = becalm_clock()
    {teardown}
    return becalm_end - becalm_start
""".format(
        setup=indent(setup or "pass", 4),
        statement=indent(statement, 8),
        teardown=indent(teardown or "pass", 4),
    )
    SHOWN["<timeit>"] = source
    return compile(source, "<timeit>", "exec")


SHOWN = {}


def show():
    # Tells what is wrong with the user's code, and nothing about this file.
    import linecache
    import traceback

    for name, text in SHOWN.items():
        linecache.cache[name] = (len(text), None, [line + "\n" for line in text.split("\n")], name)
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)
    sys.stderr.flush()


def measure(code, loops):
    names = {}
    # Executed anew for each value, as pyperf does: the setup may define what a former value changed.
    exec(code, names)
    return names["inner"](itertools.repeat(None, loops), time.perf_counter_ns)


def text(value):
    return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')


def calibrate(code, least):
    loops, raw = 1, []
    while True:
        value = measure(code, loops)
        raw.append("[%d, %d]" % (loops, value))
        if value >= least or loops >= MOST_LOOPS:
            break
        loops *= 2
    name = sys.implementation
    name = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalPy"}.get(name.name, name.name)
    version = "%s %d.%d.%d" % ((name,) + tuple(sys.version_info[:3]))
    if hasattr(sys, "_jit") and sys._jit.is_enabled():
        version += " JIT"
    return '{"loops": %d, "raw": [%s], "program": %s, "version": %s}' % (
        loops, ", ".join(raw), text(sys.executable or ""), text(version))


def run(code, loops, warmups, values):
    raw = [measure(code, loops) for _ in range(warmups + values)]
    return '{"loops": %d, "warmups": %r, "values": %r}' % (loops, raw[:warmups], raw[warmups:])


try:
    code = compiled()
    if sys.argv[1] == "calibrate":
        line = calibrate(code, int(sys.argv[2]))
    else:
        line = run(code, *map(int, sys.argv[2:5]))
except Exception:
    show()
    sys.exit(1)
os.write(results, (line + "\n").encode("utf-8", "replace"))
