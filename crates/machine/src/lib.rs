//! What becalm knows about the machine, read through a root folder that tests replace.
