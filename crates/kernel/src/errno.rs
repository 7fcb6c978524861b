//! Error numbers that mean something in particular to a caller, as [`std::io::Error::raw_os_error`] returns them.

pub use libc::{
    E2BIG, EACCES, EADDRNOTAVAIL, EBUSY, EINVAL, EIO, EMFILE, ENFILE, ENOBUFS, ENODEV, ENOENT,
    ENOEXEC, ENOSPC, ENOSYS, EOPNOTSUPP, EPERM, ESRCH,
};
