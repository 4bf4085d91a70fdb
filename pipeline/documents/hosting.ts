/** Servers and services that relcat writes a configuration for. */
export const hosts = ["nginx", "caddy", "cloudflare", "cloudfront"] as const;
export type Host = (typeof hosts)[number];

/** What files are compressed with beforehand, by the ending of the compressed file. */
export const encodings = ["gz", "br", "zst"] as const;
export type Encoding = (typeof encodings)[number];
