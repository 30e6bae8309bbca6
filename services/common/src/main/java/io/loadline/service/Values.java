package io.loadline.service;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

/** The cache behind {@code /hello}, warm as soon as it is constructed. */
public final class Values {
    private static final int CAPACITY = 10_000;
    private static final int WARM = 1_000;

    private final LoadingCache<String, String> cache = Caffeine.newBuilder().maximumSize(CAPACITY).build(key -> "value-" + key);

    public Values() {
        for (var key = 0; key < WARM; key++) {
            cache.get(Integer.toString(key));
        }
    }

    public String get(String key) {
        return cache.get(key);
    }
}
