import type { Live } from "./live-catalog.ts";

/** Texts that attempt to break out of every context of a page. */
export const hostileTexts = [
  "</script><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  "javascript:alert(1)",
  "https://evil.example/\"onclick='alert(1)",
  "\u2028line\u2029paragraph\u0085",
  "\u202Ereversed \u2066\u05E9\u05DC\u05D5\u05DD",
  "\u0000\u0007\u001b[31mcontrol",
  "{{constructor}} {{{raw}}} {{> layout}}",
  '<!--/answer--><!--request--> --> ="../../',
  "]]>&lt;b&gt; &#x6A;avascript:",
  "x".repeat(10_240),
];

const fields = [
  "name",
  "description",
  "checksum",
  "operating_system",
  "min_os_version",
  "max_os_version",
  "package_type",
  "created_date",
  "modified_date",
  "data",
  "gui_only",
  "headless",
  "platform",
] as const;

/** Fields that make a record private with any value. */
const hidingFields = ["exclude_from_api", "only_for_account"] as const;

export const hidden = "hidden from everybody ";

/**
 * An existing catalog with each text in each field of a record, except id and version, which import
 * checks.
 */
export function hostileRecords(): Live[] {
  const changes = [
    ...hostileTexts.flatMap((text) => fields.map((field) => ({ [field]: valueFor(field, text) }))),
    ...hidingFields.map((field) => ({ [field]: hidden + field })),
  ];
  return changes.map((change, index) => ({ ...plainRecord(index + 1), ...change }));
}

function valueFor(field: (typeof fields)[number], text: string): unknown {
  if (field !== "data") return text;
  return {
    store: { path: `/nix/store/${text}`, size: 1 },
    vendor: { rev: text },
    attestation: { key_id: text, signature: { signer: text, display: text }, [text]: [text] },
  };
}

const plainRecord = (id: number): Live => ({
  id,
  name: `plain-${id}.rpm`,
  version: "26.08.001",
  description: "Plain",
  checksum: id.toString(16).padStart(64, "0"),
  operating_system: "linux",
  min_os_version: null,
  max_os_version: null,
  package_type: "rpm",
  created_date: "2026-08-19T10:22:31.000000Z",
  modified_date: "2026-08-19T10:22:31.000000Z",
  data: {},
  exclude_from_api: false,
  gui_only: false,
  headless: false,
  platform: 14,
  only_for_account: null,
});
