//! Pure statistics: estimators, intervals, tests, sequential decisions and their calibration.
