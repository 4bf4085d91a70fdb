/** Paths that lead outside or are invalid in some storage, with the fault in the message. */
export const hostilePaths: readonly [fault: string, path: string][] = [
  ["is empty", ""],
  ['has the segment "." or ".."', "../victim/file"],
  ['has the segment "." or ".."', "releases/../../victim/file"],
  ['has the segment "." or ".."', "releases/.."],
  ['has the segment "." or ".."', "./index.html"],
  ["is absolute", "/etc/passwd"],
  ["has an empty segment", "releases//index.html"],
  ["has a backslash", "releases\\..\\..\\victim"],
  ["has a NUL character", "index.html\0.png"],
  ["has a control character or half of a surrogate pair", "index\n.html"],
  ["has a control character or half of a surrogate pair", "index\u0085.html"],
  ["has a control character or half of a surrogate pair", "index\ud800.html"],
  ["has more than 1024 bytes", "x".repeat(1025)],
  ["has more than 1024 bytes", "ü".repeat(513)],
];
