import type { OutputName } from "../../cli/output/outputs.ts";

/** The outputs that each test file of this folder prints for real. */
export const groups = {
  "projects.test.ts": [
    ...([
      "problems",
      "init",
      "new",
      "notes-show",
      "notes-lint",
      "notes-add",
      "ingest",
      "ingest-fill",
      "ingest-suggest",
    ] as const),
    ...([
      "import",
      "inspect",
      "check",
      "status",
      "list",
      "affected",
      "build",
      "plan",
      "cut",
      "uncut",
      "ledger-rebase",
    ] as const),
    ...(["retract", "reinstate", "templates-list", "templates-show", "templates-eject", "schema"] as const),
    ...(["schema-list", "completion", "help-topic"] as const),
  ],
  "sites.test.ts": [
    ...([
      "trust-init",
      "trust-rotate",
      "trust-sign",
      "trust-openpgp",
      "trust-list",
      "sign",
      "publish",
    ] as const),
    ...([
      "release",
      "rollback",
      "history",
      "upload",
      "download",
      "verify",
      "verify-other-build",
      "verify-files",
    ] as const),
    ...(["serve-listening", "request", "site-replaced", "server-error"] as const),
  ],
  "controllers.test.ts": [
    ...(["login", "logout", "controller-init", "controller-backup", "controller-restore"] as const),
    ...([
      "controller-migrate",
      "controller-user",
      "controller-users-list",
      "controller-users-passwd",
    ] as const),
    ...(["controller-new-key", "controller-key", "controller-keys-list", "controller-keys-revoke"] as const),
    ...([
      "controller-audit-verify",
      "controller-audit-show",
      "devices-list",
      "devices-show",
      "devices-history",
    ] as const),
    ...(["devices-delete", "devices-state", "devices-serials", "devices-import", "devices-enroll"] as const),
    ...(["devices-export", "devices-watch", "listening"] as const),
  ],
} as const satisfies Record<string, readonly OutputName[]>;
