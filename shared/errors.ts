/** Exit status of the command for each class of failure. */
export const exitStatus = {
  done: 0,
  problems: 1,
  usage: 2,
  conflict: 3,
  notAllowed: 4,
  network: 5,
  tampered: 6,
  stale: 7,
  misconfigured: 8,
  declined: 9,
  bug: 70,
} as const;

/** The list is closed: an unknown code does not compile, and each one has a test that provokes it. */
export const codes = {
  // reading a document
  "file-encoding": 1,
  "file-size": 1,
  "file-unexpected": 1,
  "json-syntax": 1,
  "yaml-syntax": 1,
  "duplicate-key": 1,
  "nesting-depth": 1,
  "alias-expansion": 1,
  "key-not-text": 1,
  "unquoted-number": 1,
  "unknown-key": 1,
  "missing-key": 1,
  "wrong-type": 1,
  // fields
  "version-format": 1,
  "date-format": 1,
  "timestamp-format": 1,
  "name-format": 1,
  "text-format": 1,
  "checksum-format": 1,
  "size-range": 1,
  "url-format": 1,
  "os-version-format": 1,
  "package-type-format": 1,
  "revision-format": 1,
  "derivation-format": 1,
  "path-format": 1,
  "key-id-format": 1,
  "hash-format": 1,
  "account-format": 1,
  "option-value": 1,
  // a release
  "folder-name": 1,
  "release-missing": 1,
  "release-mismatch": 1,
  "release-date": 1,
  "release-empty": 1,
  "artifact-conflict": 1,
  "release-cut": 1,
  "same-bytes": 1,
  "duplicate-file": 1,
  "foreign-version": 1,
  "revision-unlisted": 1,
  "note-component": 1,
  "note-kind": 1,
  "note-empty": 1,
  "advisory-repeated": 1,
  // an artifact
  "package-type-unknown": 1,
  "package-metadata": 1,
  "operating-system-mismatch": 1,
  "platform-mismatch": 1,
  "platform-unnamed": 1,
  "variant-both": 1,
  "deb-os-range": 1,
  "checksum-mismatch": 1,
  "store-required": 1,
  "vendor-required": 1,
  "attestation-required": 1,
  "store-forbidden": 1,
  "vendor-forbidden": 1,
  "attestation-forbidden": 1,
  "signature-forbidden": 1,
  "hash-per-arch": 1,
  "fingerprint-per-arch": 1,
  "fingerprint-missing": 1,
  "derivation-path": 1,
  // the catalog's configuration
  "config-channel": 1,
  "config-platform": 1,
  "config-package-type": 1,
  "config-url": 1,
  "config-brand": 1,
  "feed-key": 1,
  "feed-signer": 1,
  "purge-missing": 1,
  template: 1,
  // package feeds
  "suite-mixed": 1,
  "feed-duplicate": 1,
  "feed-left-out": 1,
  // inspection
  "policy-refused": 1,
  "inspection-missing": 1,
  "inspection-outdated": 1,
  "image-misfit": 1,
  // completeness
  "artifact-missing": 1,
  "artifact-dropped": 1,
  // the ledger
  "ledger-truncated": 1,
  "ledger-conflict-marker": 1,
  "ledger-line": 1,
  "ledger-duplicate": 1,
  "ledger-order": 1,
  "ledger-id": 1,
  "ledger-event": 1,
  "ledger-rewritten": 1,
  "bytes-changed": 1,
  "metadata-changed": 1,
  "record-vanished": 1,
  "record-private": 1,
  "replacement-unknown": 1,
  "content-not-cut": 1,
  "content-uncommitted": 1,
  "revise-limit": 1,
  "record-unknown": 1,
  "nothing-to-retract": 1,
  "nothing-to-reinstate": 1,
  "version-unknown": 1,
  "version-settled": 1,
  "version-not-last": 1,
  "channel-unknown": 1,
  "channel-state": 1,
  "rebase-conflict": 1,
  "id-taken": 1,
  "plan-digest": 1,
  "plan-stale": 3,
  // using the command
  usage: 2,
  "folder-missing": 2,
  "folder-not-ours": 2,
  "file-exists": 2,
  "pack-failed": 2,
  "sequence-full": 2,
  clock: 2,
  "commit-refused": 2,
  "git-missing": 2,
  "git-refused": 2,
  "decoder-missing": 2,
  "git-revision": 2,
  "not-confirmed": 2,
  "file-access": 2,
  "lock-held": 3,
  // sign
  "build-provisional": 1,
  "build-changed": 1,
  "trust-missing": 2,
  "trust-exists": 2,
  "trust-damaged": 1,
  "trust-expired": 7,
  "key-unusable": 2,
  "key-untrusted": 2,
  "key-exposed": 2,
  "role-undelegated": 1,
  "versions-exhausted": 1,
  "feed-unsigned": 1,
  "build-unproved": 6,
  // verify
  "root-missing": 2,
  "site-tampered": 6,
  "site-expired": 7,
  "site-stale": 7,
  // publish
  "site-unknown": 2,
  "site-taken": 3,
  "site-newer": 3,
  "site-held": 3,
  "ledger-unpushed": 3,
  "origin-changed": 1,
  "notes-changed": 1,
  "site-empty": 2,
  "build-other-site": 2,
  "build-unsigned": 1,
  "build-stale": 1,
  "build-unknown": 2,
  "build-retracted": 1,
  "build-halted": 1,
  "artifact-unpublished": 1,
  "object-taken": 3,
  "storage-refused": 4,
  "hook-failed": 1,
  // download
  "artifact-unlisted": 6,
  "artifact-withdrawn": 1,
  // serve
  "build-unreadable": 1,
  "address-taken": 2,
  // ingest
  "input-missing": 2,
  "input-unknown": 1,
  "input-empty": 1,
  "ingest-conflict": 1,
  "build-failed": 1,
  "build-unused": 1,
  "product-line": 1,
  "product-missing": 1,
  "store-path-invalid": 1,
  "store-ambiguous": 1,
  "nix-key": 1,
  "nix-signature": 6,
  "artifact-unmatched": 1,
  "artifact-empty": 1,
  "file-changed": 1,
  "sums-line": 1,
  "sidecar-unused": 1,
  "revision-missing": 1,
  "revision-unsure": 2,
  network: 5,
  // import
  "import-list": 1,
  "import-record": 1,
  "import-violations": 1,
  "import-wire": 1,
  "import-conflict": 1,
  "import-gone": 1,
  "import-mismatch": 1,
  "download-address": 1,
  "date-order": 1,
  "verbatim-needless": 1,
  "exceptions-exceeded": 1,
  "exceptions-unused": 1,
  // the controller, on its own machine
  "controller-database": 2,
  "controller-exists": 2,
  "audit-broken": 6,
  // a controller's clients
  "credentials-refused": 2,
  "request-refused": 1,
  "request-conflict": 3,
  "serials-file": 1,
  "devices-file": 1,
  "device-unmatched": 1,
  "device-rejected": 1,
  "user-unmatched": 1,
  "key-unmatched": 1,
} as const satisfies Record<string, number>;

export type Code = keyof typeof codes;

/** A location in a file that people edit: line and column start at 1, columns count UTF-16 units. */
export interface Place {
  /** Relative to the current folder, with forward slashes. */
  file: string;
  line: number;
  column: number;
  /** Text of that line, to mark the column. */
  excerpt?: string;
  /** Path of the value in its document, or of the missing value. */
  path?: readonly (string | number)[];
}

export interface Problem {
  code: Code;
  severity: "error" | "warning";
  /** The error and the expectation, as one sentence. */
  message: string;
  hint?: string;
  at?: Place;
}

/** A failure that the user can correct. Any other exception is a bug in relcat. */
export class RelcatError extends Error {
  override readonly name = "RelcatError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map((problem) => `${problem.code}: ${problem.message}`).join("\n"), options);
    this.problems = problems;
  }

  /** Code of the first error, which decides the exit status. */
  get code(): Code {
    const first = this.problems.find((problem) => problem.severity === "error") ?? this.problems[0];
    return first?.code ?? "usage";
  }

  get exitStatus(): number {
    return codes[this.code];
  }
}

export function failure(
  code: Code,
  message: string,
  hint?: string,
  at?: Place,
  cause?: unknown,
): RelcatError {
  const problem: Problem = { code, severity: "error", message, ...(hint && { hint }), ...(at && { at }) };
  return new RelcatError([problem], cause === undefined ? undefined : { cause });
}

/** @throws RelcatError if any problem is an error; warnings alone pass */
export function throwErrors(problems: readonly Problem[]): void {
  if (problems.some((problem) => problem.severity === "error")) throw new RelcatError(problems);
}
