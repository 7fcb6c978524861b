//! Test only: fake machine trees, a hermetic command line and redaction.
