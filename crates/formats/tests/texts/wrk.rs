//! wrk and wrk2.

use crate::common::condensed;
use crate::damage::never_panics;
use becalm_formats::{File, import};

const WRK: &str = "Running 10s test @ http://127.0.0.1:8080/a
  2 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  1119770 requests in 10.01s, 20.46MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 5
Requests/sec: 111886.31
Transfer/sec:      2.04MB
";

const WRK2: &str = "Running 1m test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 10087 usec, rate sampling interval: 22 msec
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.60ms    1.92ms   1.20m    68.46%
    Req/Sec     1.04k     -nan     2.50k    72.79%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.67ms
 99.999%   12.50ms
100.000%   12.50ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       6.671     0.500000        19783         2.00
      10.015     0.950000        37543        20.00
      12.503     1.000000        39500          inf
#[Mean    =        6.602, StdDeviation   =        1.919]
----------------------------------------------------------
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 90.000%    1.00ms
  60018 requests in 30.00s, 19.81MB read
Requests/sec:   2000.28
Transfer/sec:    676.18KB
";

#[test]
fn wrk_has_percentiles_and_errors() {
    insta::assert_snapshot!(condensed(&import(&[File::of_text("a", WRK)], None).unwrap()));
}

#[test]
fn wrk2_has_a_spectrum_and_every_invocation_is_a_process() {
    let record = import(&[File::of_text("a", &WRK2.repeat(2))], None).unwrap();
    insta::assert_snapshot!(condensed(&record));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error =
        |text: &str| import(&[File::of_text("a.txt", text)], Some("wrk")).unwrap_err().to_string();
    assert_eq!(
        error("Running 1s test @ u\n  Latency   1 2 3\n"),
        "a.txt, line 2: expected three durations after `Latency`, found `Latency   1 2 3`"
    );
    assert_eq!(error("Running 1s test @ u\n"), "a.txt: it contains no measurement");
}

#[test]
fn damaged_files_are_read_or_refused() {
    never_panics("wrk", WRK);
    never_panics("wrk", WRK2);
}
