/** none: no signatures; simple: one root key; full: two of three people sign a new root. */
export const trustProfiles = ["none", "simple", "full"] as const;
export type TrustProfile = (typeof trustProfiles)[number];

export const rootKeys: Readonly<Record<Exclude<TrustProfile, "none">, { count: number; threshold: number }>> =
  {
    simple: { count: 1, threshold: 1 },
    full: { count: 3, threshold: 2 },
  };

/** Days until the signatures of a site expire. With `full`, several people watch the site. */
export const usualValidDays: Readonly<Record<TrustProfile, number>> = { none: 30, simple: 30, full: 7 };

/** Namespace of signatures of checksum files, which ssh-keygen(1) takes with -n. */
export const signatureNamespace = "file";

export const signerOf = (authority: string): string => `releases@${authority}`;
