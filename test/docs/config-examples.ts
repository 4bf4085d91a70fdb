/** An example of each section of catalog.yaml, with every key of the section. */
export const examples: Readonly<Record<string, string>> = {
  product: `product: Acme Agent
`,
  brand: `brand:
  name: Acme Downloads
  logo: brand/logo.svg
  favicon: brand/icon.svg
  accent: { light: "#7a1fa2", dark: "#c48ee6" } # or one color
  home: https://www.acme.example
  support: mailto:help@acme.example
  footer: © Acme GmbH, Berlin
`,
  base_url: `base_url: https://downloads.example.com
`,
  artifact_url: `artifact_url: "https://cdn.example.com/{version}/{file}"
`,
  authority: `authority: example.com
`,
  wire: `wire: { vendor: acme, cryptolib_post: selftest }
`,
  require: `require: { store: [image], vendor: [image], attestation: [client, image], attestation_from: "26.08", feeds: [deb], documents: { sbom: [client, image] } }
feeds: { apt: {} } # a feed that is required must be on
documents: {} # and so must documents
`,
  platforms: `platforms: { "18": Flatpak }
`,
  platform_order: `platform_order: [4, 5, 7, 14]
`,
  package_types: `package_types:
  flatpak: { operating_system: linux, platform: 18, kind: client, description: Linux app (Flatpak) }
platforms: { "18": Flatpak } # a new platform number needs a name
`,
  ingest: `ingest:
  - match: "*_2204_*.deb"
    package_type: deb
    description: For Ubuntu 22.04 and later
    min_os_version: "22.04"
    max_os_version: null
    gui_only: false
    headless: true
    arch: amd64
`,
  documents: `documents:
  formats: [{ ending: .vex.json, kind: attestation, format: openvex }]
`,
  ignore: `ignore: ["*.log", "*.sbom.json"]
`,
  nix: `nix:
  trusted_keys: ["cache.example.com-1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="]
`,
  expected: `expected:
  - msi
  - package_type: deb
    arch: arm64
    min_os_version: "22.04"
    max_os_version: null
    gui_only: false
    headless: true
    from: "26.10"
    until: "27.06"
`,
  hosts: `hosts: [nginx]
`,
  trust: `trust:
  profile: full
  valid_days: 14
  online: { env: RELEASE_KEY } # or { file: PATH }, or a program, as below
  openpgp: { key: { exec: [ci/sign-openpgp, "{textmode}"], public: 0123456789ABCDEF0123456789ABCDEF01234567 } }
  packslip: { env: PACKSLIP_KEY }
`,
  builder: `builder: { id: "https://ci.example.com/release", source: "git+https://git.example.com/product" }
`,
  sites: `sites:
  prod:
    url: s3://downloads/catalog
    base_url: https://downloads.example.com
    settles: true
    endpoint: https://s3.example.com
    region: us-east-1
    path_style: true
    unquoted_etags: false
    purge: { exec: [node, ci/purge.js] }
    after_publish: { exec: [node, ci/announce.js] }
    keep: { builds: 20, days: 30 }
  staging: { url: "dir:/srv/staging", base_url: "https://staging.example.com", settles: false }
`,
  feeds: `feeds:
  apt:
    suites: { jammy: "22.04", edge: { version: "24.04", match: "*-edge_*" } }
    origin: Acme
    label: Acme Agent
    architectures: [amd64]
    valid_days: 30
  yum:
    repos: { stable: { match: "*.rpm" } }
    filelists: true
    changelogs: true
  helm: { oci: true }
  incus: { os: acme }
  packslip:
    project: downloads.example.com
    artifacts: { xz: { bin: [bin/agent], libc: gnu, variant: fips } }
trust: simple # packslip needs signatures
`,
  signers: `signers:
  - { file: signers/release.asc, not_before: 2026-01-01, not_after: 2027-12-31 }
`,
  policy: `policy:
  deb: { verdict: [ok, unsigned], self_check: "*/agent", unsigned: [usr/bin/helper] }
`,
  version_map: `version_map: { helm: "{YY}.{M}.{N}" }
`,
  precompress: `precompress: [gz, br, zst]
`,
  security: `security:
  contact: [mailto:security@acme.example, "https://acme.example/report"]
  policy: https://acme.example/security
  languages: [en, de]
trust: simple # sign renews the end of the file
`,
  channels: `channels: { stable: {}, beta: {} }
`,
  lines: `lines:
  default: { security_until: 24 months, until: 3 years } # counted from the month of the release
  "26.08": { security_until: 2030-08-31, until: tba }
`,
  ledger: `ledger: { base: upstream/main }
`,
  notes: `notes:
  components: { agent: Agent, installer: Installer }
  kinds: { fix: Fixes, feature: Features, security: Security }
`,
  refs: `refs:
  NW-: https://issues.example.com/browse/{ref}
  "#": https://git.example.com/product/issues/{number}
`,
};

/** Values that mean the same as leaving a key out, in YAML. */
export const defaults: Readonly<Record<string, string>> = {
  product: "Releases",
  base_url: "http://127.0.0.1:8080",
  artifact_url: '"{base_url}/files/{version}/{file}"',
  "wire.vendor": "vendor",
  "wire.cryptolib_post": "cryptolib_post",
  require: '{ store: [image], vendor: [image], attestation: [client, image], attestation_from: "26.08" }',
  "require.store": "[]",
  "require.vendor": "[]",
  "require.attestation": "[]",
  "require.feeds": "[]",
  "require.documents": "{}",
  ingest: "[]",
  ignore: "[]",
  "documents.formats": "[]",
  "nix.trusted_keys": "[]",
  expected: "[]",
  hosts: "[]",
  trust: "none",
  "trust.online": "{ env: RELCAT_ONLINE_KEY }",
  "trust.openpgp": "{ key: { env: RELCAT_OPENPGP_KEY } }",
  "trust.packslip": "{ env: RELCAT_PACKSLIP_KEY }",
  "sites.NAME.settles": "true",
  "sites.NAME.unquoted_etags": "false",
  "sites.NAME.keep.builds": "10",
  "sites.NAME.keep.days": "14",
  "feeds.apt.suites": "{ stable: {} }",
  "feeds.apt.architectures": "[amd64, arm64]",
  "feeds.yum.repos": "{ stable: {} }",
  "feeds.yum.filelists": "false",
  "feeds.yum.changelogs": "false",
  "feeds.helm.oci": "false",
  signers: "[]",
  "policy.NAME.verdict": "[ok]",
  "policy.NAME.unsigned": "[]",
  precompress: "[gz, br]",
  "ledger.base": "origin/main",
  "notes.components":
    "{ server: Server, documentation: Documentation, meta_control_plane: Meta Control Plane }",
  "notes.kinds": "{ fix: Fixes, feature: Features }",
};
