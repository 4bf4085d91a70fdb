export const hosts = ["nginx", "caddy", "apache", "cloudflare", "cloudfront"] as const;
export type Host = (typeof hosts)[number];

export const encodings = ["gz", "br", "zst"] as const;
export type Encoding = (typeof encodings)[number];
