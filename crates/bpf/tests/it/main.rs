//! The programs in the kernel, on links between namespaces of their own. These tests need root, `ip` and `nft`.

mod datapath;
mod left_behind;
mod objects;
mod refusals;
mod spin;
mod topology;
