//! Files that commands read and write.

pub(crate) use becalm_session::files::{
    FOLDER, beside, check_writable, is_special, make_folder, make_if_missing, make_own_folder,
    read_bytes, read_text, write_atomically, write_bytes_atomically, write_with,
};
