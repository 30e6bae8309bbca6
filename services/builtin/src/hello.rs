//! `GET /hello/{key}`: a look-up in a real concurrent cache, the service of published framework comparisons.
//! A missing key is computed and stored, so after its first request every key costs the same.

use std::convert::Infallible;

use bytes::Bytes;
use hyper::{Method, Request};
use quick_cache::sync::Cache;

use crate::reply::{self, Reply};

const PREFIX: &str = "/hello/";

/// Settings of the `hello` service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// The maximum number of entries in the cache; entries do not expire.
    pub entries: usize,
    /// Keys, from `0` up, that are in the cache before the first request.
    pub prewarmed: usize,
}

/// 10,000 entries, of which 1,000 are pre-warmed.
impl Default for Hello {
    fn default() -> Self {
        Self { entries: 10_000, prewarmed: 1_000 }
    }
}

/// The running service.
pub(crate) struct Service {
    cache: Cache<String, Bytes>,
}

impl Service {
    pub(crate) fn new(settings: Hello) -> Self {
        let service = Self { cache: Cache::new(settings.entries) };
        for key in 0..settings.prewarmed {
            service.look_up(&key.to_string());
        }
        service
    }

    fn look_up(&self, key: &str) -> Bytes {
        let value = self.cache.get_or_insert_with(key, || Ok::<_, Infallible>(format!("value-{key}").into()));
        match value {
            Ok(value) => value,
        }
    }

    pub(crate) fn answer<B>(&self, request: &Request<B>) -> Reply {
        let key = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
        if key.is_empty() || key.contains('/') {
            return reply::not_found("/hello/{key}");
        }
        if request.method() != Method::GET {
            return reply::method_not_allowed("GET");
        }
        reply::ok(self.look_up(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_starts_warm_and_keeps_what_it_computes() {
        let service = Service::new(Hello::default());
        assert_eq!(service.cache.len(), 1_000);
        assert_eq!(service.cache.get("999"), Some(Bytes::from_static(b"value-999")));
        assert_eq!(service.cache.get("virtual"), None);
        assert_eq!(service.look_up("virtual"), "value-virtual");
        assert_eq!(service.cache.get("virtual"), Some(Bytes::from_static(b"value-virtual")));
    }

    #[test]
    fn the_cache_never_holds_more_than_its_entries() {
        let service = Service::new(Hello { entries: 100, prewarmed: 0 });
        for key in 0..10_000 {
            assert_eq!(service.look_up(&key.to_string()), format!("value-{key}"));
        }
        assert!(service.cache.len() <= 100, "{} entries", service.cache.len());
    }
}
