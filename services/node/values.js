// The cache behind /hello, warm from the start.
import { LRUCache } from 'lru-cache';

const values = new LRUCache({ max: 10_000, memoMethod: (key) => `value-${key}` });
for (let key = 0; key < 1_000; key++) values.memo(String(key));

// The value of a key, which is computed and kept if it is missing.
export const valueOf = (key) => values.memo(key);
