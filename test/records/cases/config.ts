import { type Case, withClient } from "./case.ts";

const config = (value: object) => ({ "catalog.yaml": value });

/** Rules across the fields of catalog.yaml. */
export const configCases: Case[] = [
  ...(
    [
      ["only of spaces", "   ", "   "],
      ["too long", "x".repeat(101), `${"x".repeat(96)}…`],
    ] as const
  ).map(
    ([fault, product, shown]): Case => ({
      behaviour: `a product that is ${fault} is reported`,
      files: config({ product }),
      problems: [
        `catalog.yaml:2:14 error[text-format] product is "${shown}", expected one line of at most 100 characters, not only spaces`,
      ],
    }),
  ),
  {
    behaviour: "an expected artifact that no release can be due to have is reported",
    files: config({
      expected: [
        { package_type: "msi", from: "27.06", until: "26.10" },
        { package_type: "rpm", from: "26.10.002", until: "26.10" },
        { package_type: "deb", min_os_version: "22.10", max_os_version: "22.4" },
        { package_type: "deb", min_os_version: "22.04", max_os_version: "22.04" },
      ],
    }),
    problems: [
      "catalog.yaml:3:5 error[option-value] no release is expected to have msi: from 27.06 is after until 26.10" +
        "\n  Swap the two, or leave one of them out.",
      "catalog.yaml:13:5 error[option-value] no release is expected to have deb: min_os_version 22.10 is above max_os_version 22.4" +
        "\n  Swap the two, or leave one of them out.",
    ],
  },
  {
    behaviour: "a platform that is not a number is reported",
    files: config({ platforms: { kvm: "KVM" } }),
    problems: [
      'catalog.yaml:3:5 error[config-platform] the platform "kvm" is not a positive whole number' +
        '\n  Write it as "11": KVM.',
    ],
  },
  {
    behaviour: "a channel whose files would have another's name is reported",
    files: config({
      ...{ channels: { stable: {}, index: {}, beta: {} } },
      feeds: { apt: { suites: { stable: {}, beta: {} } }, yum: {} },
    }),
    problems: [
      "catalog.yaml:4:5 error[config-channel] a channel cannot have the name index\n  Rename it.",
      "catalog.yaml:5:5 error[config-channel] the channel beta would have the suite beta, which another one has already" +
        "\n  Rename one of them.",
    ],
  },
  {
    behaviour: "two platforms that would share a folder are reported",
    files: config({ platforms: { "11": "VMware" } }),
    problems: [
      "catalog.yaml:3:5 error[config-platform] platforms 11 and 12 share the folder platforms/vmware/" +
        "\n  Give one of them another name.",
    ],
  },
  {
    behaviour: "a platform named like the folder above is reported",
    files: config({ platforms: { "11": ".." } }),
    problems: [
      'catalog.yaml:3:5 error[config-platform] the platform name ".." cannot be a folder' +
        "\n  Give it a name in letters.",
    ],
  },
  {
    behaviour: "a package type that is invalid in a URL is reported",
    files: config({ package_types: { index: { kind: "client" } } }),
    problems: [
      'catalog.yaml:3:5 error[config-package-type] the package type "index" cannot be part of a URL, expected 1 to 32 lowercase letters, digits and dashes, but not index, as pages are called' +
        "\n  Rename it.",
    ],
  },
  {
    behaviour: "a new package type without its platform is reported",
    files: config({ package_types: { flatpak: { operating_system: "linux", kind: "client" } } }),
    problems: [
      "catalog.yaml:3:5 error[config-package-type] the package type flatpak lacks platform" +
        "\n  For example: { operating_system: linux, platform: 17, kind: client }.",
    ],
  },
  {
    behaviour: "a new package type without a description is reported",
    files: config({
      package_types: { flatpak: { operating_system: "linux", platform: 17, kind: "client" } },
    }),
    problems: [
      "catalog.yaml:3:5 error[config-package-type] the package type flatpak lacks a description" +
        "\n  Add one: artifacts without a description of their own show it.",
    ],
  },
  {
    behaviour: "a platform without a name is reported",
    files: config({
      package_types: {
        flatpak: { operating_system: "linux", platform: 18, kind: "client", description: "Flatpak" },
      },
    }),
    problems: [
      "catalog.yaml:3:5 error[platform-unnamed] the platform 18 of flatpak has no name" +
        '\n  Add "18": NAME under platforms.',
    ],
  },
  {
    behaviour: "an artifact URL with an unknown placeholder is reported",
    files: config({ artifact_url: "https://example.com/{verison}/{file}" }),
    problems: [
      "catalog.yaml:2:3 error[config-url] the placeholder {verison} is not known" +
        "\n  Known: {base_url} {version} {file} {name} {package_type} {id} {checksum}.",
    ],
  },
  {
    behaviour: "an artifact URL that is not a URL is reported",
    files: config({ artifact_url: "files/{file}" }),
    problems: [
      'catalog.yaml:2:3 error[config-url] artifact_url is "files/{file}", expected an http or https URL without credentials' +
        "\n  Start it with https:// or {base_url}.",
    ],
  },
  {
    behaviour: "an artifact URL with an open brace is reported",
    files: config({ artifact_url: "https://example.com/{file" }),
    problems: [
      'catalog.yaml:2:3 error[config-url] artifact_url is "https://example.com/{file", expected an http or https URL without credentials' +
        "\n  Start it with https:// or {base_url}.",
    ],
  },
  {
    behaviour: "artifacts among a site's own documents are reported",
    files: config({ artifact_url: "{base_url}/metadata/{file}" }),
    problems: [
      "catalog.yaml:2:3 error[config-url] artifact_url puts artifacts below metadata/, among the documents of the site" +
        "\n  Give them a folder of their own: begin it with {base_url}/files/.",
    ],
  },
  {
    behaviour: "artifacts among the documents of a site with an address of its own are reported",
    files: config({
      artifact_url: "https://staging.example.com/x/api/{file}",
      sites: { staging: { url: "dir:www", base_url: "https://staging.example.com/x/" } },
    }),
    problems: [
      "catalog.yaml:2:3 error[config-url] artifact_url puts artifacts below api/, among the documents of the site" +
        "\n  Give them a folder of their own: begin it with {base_url}/files/.",
    ],
  },
  {
    behaviour: "a base URL that only looks like one is reported",
    files: config({ base_url: "https://example.com:99999" }),
    problems: [
      'catalog.yaml:2:3 error[config-url] base_url is "https://example.com:99999", expected an http or https URL' +
        "\n  Correct its host or port.",
    ],
  },
  {
    behaviour: "an OCI registry below a path is reported",
    files: config({
      base_url: "https://example.com/base",
      sites: {
        prod: { url: "dir:www" },
        other: { url: "dir:other", base_url: "https://example.org/x" },
        own: { url: "dir:own", base_url: "https://oci.example.org/" },
      },
      feeds: { helm: { oci: true } },
    }),
    problems: [
      'catalog.yaml:2:3 error[config-url] base_url is "https://example.com/base", expected a URL without a path, because feeds.helm.oci is on' +
        "\n  Clients look for an OCI registry at the root of a host. Give the site a host of its own, or remove oci.",
      'catalog.yaml:9:7 error[config-url] sites.other.base_url is "https://example.org/x", expected a URL without a path, because feeds.helm.oci is on' +
        "\n  Clients look for an OCI registry at the root of a host. Give the site a host of its own, or remove oci.",
    ],
  },
  {
    behaviour:
      "package feeds at an address without TLS are a warning, but not on previews, the own machine and reserved names",
    files: config({
      base_url: "http://get.acme.dev",
      sites: {
        prod: { url: "dir:www", base_url: "http://10.1.2.3:8080/base" },
        staging: { url: "dir:staging", base_url: "http://staging.acme.dev", settles: false },
        own: { url: "dir:own", base_url: "http://127.1:8080" },
        local: { url: "dir:local", base_url: "http://repo.localhost" },
        documented: { url: "dir:documented", base_url: "http://downloads.example.org" },
        reserved: { url: "dir:reserved", base_url: "http://repo.test" },
        secure: { url: "dir:secure", base_url: "https://get.acme.dev/x" },
      },
      feeds: { yum: {} },
    }),
    problems: ["base_url", "sites.prod.base_url"].map(
      (path, index) =>
        `catalog.yaml:${index === 0 ? "2:15" : "6:19"} warning[config-url] ${path} is "${index === 0 ? "http://get.acme.dev" : "http://10.1.2.3:8080/base"}", and machines that install from its package feeds would load their keys without encryption` +
        "\n  Serve the site with TLS, and write https:// here: on the way, anyone can replace keys and packages that come over http.",
    ),
  },
  {
    behaviour: "an address without TLS is no problem without package feeds",
    files: config({ base_url: "http://get.acme.dev" }),
    problems: [],
  },
  {
    behaviour: "an address of references that is no link of the web is reported",
    files: config({
      refs: {
        "NW-": "javascript:alert('{ref}')",
        "GH-": "https://git.example.com/issues/",
        "1": "https://a.example/{ref}",
      },
    }),
    problems: [
      'catalog.yaml:3:5 error[option-value] the key "1" in refs is not valid, expected the beginning of references, such as NW-',
      `catalog.yaml:4:12 error[url-format] refs.NW- is "javascript:alert('{ref}')", expected an http or https URL with {ref}, or {number} for the part after the prefix`,
      'catalog.yaml:5:12 error[url-format] refs.GH- is "https://git.example.com/issues/", expected an http or https URL with {ref}, or {number} for the part after the prefix',
    ],
  },
  {
    behaviour: "a yum repository with the name of the mirrorlist of another is reported",
    files: config({ feeds: { yum: { repos: { a: {}, "a.mirrorlist": {} } } } }),
    problems: [
      'catalog.yaml:6:9 error[option-value] the key "a.mirrorlist" in feeds.yum.repos is not valid, expected a name such as stable, without the ending .mirrorlist',
    ],
  },
  {
    behaviour: "an unknown host is reported",
    files: config({ hosts: ["nginx", "lighttpd"] }),
    problems: [
      'catalog.yaml:4:5 error[option-value] hosts[1] is "lighttpd", expected one of nginx, caddy, apache, cloudflare, cloudfront',
    ],
  },
  {
    behaviour: "an encoding that is not known is reported",
    files: config({ precompress: ["gzip"] }),
    problems: ['catalog.yaml:3:5 error[option-value] precompress[0] is "gzip", expected one of gz, br, zst'],
  },
  {
    behaviour: "a base path with a special character of a host's patterns is reported",
    files: config({ base_url: "https://example.com/some(base)", hosts: ["nginx", "caddy"] }),
    problems: [
      'catalog.yaml:2:3 error[config-url] the path of base_url is "/some(base)", expected letters, digits and . _ ~ - for the nginx, caddy of hosts' +
        "\n  Serve the site below another path, or write that host's configuration by hand and leave hosts out.",
    ],
  },
  {
    behaviour: "a note component whose key is not an identifier is reported",
    files: config({ notes: { components: { "Meta Control Plane": "Meta Control Plane" } } }),
    problems: [
      'catalog.yaml:4:7 error[option-value] the key "Meta Control Plane" is not lowercase letters, digits and _' +
        "\n  Its title may be any text.",
    ],
  },
  {
    behaviour: "two parts of data under one wire name are reported",
    files: config({ wire: { vendor: "store" } }),
    problems: [
      "catalog.yaml:3:5 error[option-value] the wire name store is taken by another part of data" +
        "\n  Choose another name.",
    ],
  },
  {
    behaviour: "a package type in expected and ingest that is not in the table is reported",
    files: config({ expected: ["snap"], ingest: [{ match: "*.snap", package_type: "snap" }] }),
    problems: [
      "catalog.yaml:3:5 error[package-type-unknown] the package type snap is not known" +
        "\n  Register it in catalog.yaml: package_types: { snap: { operating_system: linux, platform: 17, kind: client, description: … } }",
      "catalog.yaml:8:23 error[package-type-unknown] the package type snap is not known" +
        "\n  Register it in catalog.yaml: package_types: { snap: { operating_system: linux, platform: 17, kind: client, description: … } }",
    ],
  },
  {
    behaviour: "a fault in one section does not affect the others",
    files: {
      ...config({
        colour: "red",
        package_types: {
          flatpak: { operating_system: "linux", platform: 17, kind: "client", description: "Flatpak" },
        },
      }),
      ...withClient({ name: "tool.flatpak", package_type: "flatpak", attestation: undefined }),
    },
    problems: [
      'catalog.yaml:2:3 error[unknown-key] the key "colour" is not known' +
        "\n  Known keys: product, brand, base_url, artifact_url, authority, wire, require, platforms, platform_order, package_types, ingest, ignore, documents, nix, expected, hosts, trust, builder, sites, feeds, signers, policy, version_map, precompress, security, channels, lines, ledger, notes, refs.",
      "26.08.001/manifests/client.json:4:5 error[attestation-required] attestation is missing, expected on every client from 26.08 on" +
        "\n  Let the build write it, or take client out of require.attestation in catalog.yaml.",
    ],
  },
  {
    behaviour: "a fault in the table of package types does not make its types unknown",
    files: {
      ...config({
        package_types: { flatpak: { operating_system: "linux", platform: "17", kind: "client" } },
      }),
      ...withClient({ name: "tool.flatpak", package_type: "flatpak" }),
    },
    problems: [
      'catalog.yaml:5:19 error[wrong-type] package_types.flatpak.platform is "17", expected a positive whole number',
    ],
  },
  {
    behaviour: "a value with several forms is reported in the form that has its keys",
    files: config({
      trust: { profile: "simple", online: { exec: ["kms"] }, packslip: { env: "KEY", file: "key.pem" } },
    }),
    problems: [
      "catalog.yaml:4:15 error[missing-key] the key public is missing in trust.online, expected the base64 of an Ed25519 key's 32 bytes",
      'catalog.yaml:11:7 error[unknown-key] the key "file" is not known in trust.packslip' +
        "\n  The other keys there exclude it: remove it, or them.",
    ],
  },
  {
    behaviour: "certificates that clients of yum repositories cannot get are reported",
    files: {
      ...config({
        feeds: { yum: {} },
        signers: ["lost.asc", "../outside.asc", "signers/bad.asc", "signers/empty.asc"].map((file) => ({
          file,
        })),
      }),
      "signers/empty.asc": "certificate",
      "signers/bad.asc": "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n",
    },
    problems: [
      "catalog.yaml:7:15 error[feed-signer] there is no file lost.asc, expected one for clients of the yum repositories" +
        "\n  Write it with gpg --armor --export KEY, or correct signers: in catalog.yaml.",
      "catalog.yaml:10:15 warning[feed-signer] clients of yum repositories do not get the certificates in ../outside.asc, which is not in this folder" +
        "\n  Move it to signers/ next to catalog.yaml; then clients can check the signatures of rpms too.",
      "catalog.yaml:13:15 error[feed-signer] signers/bad.asc does not contain a readable certificate, expected one for clients of the yum repositories" +
        "\n  Write it with gpg --armor --export KEY, or correct signers: in catalog.yaml.",
      "catalog.yaml:16:15 error[feed-signer] signers/empty.asc does not contain a readable certificate, expected one for clients of the yum repositories" +
        "\n  Write it with gpg --armor --export KEY, or correct signers: in catalog.yaml.",
    ],
  },
  {
    behaviour: "an accent color that is hard to read is reported with the nearest one that is not",
    files: config({ brand: { accent: "#ff7a1f" } }),
    problems: [
      "catalog.yaml:3:15 error[config-brand] #ff7a1f on light pages has a contrast of 2.39 : 1, expected at least 4.5 : 1 (WCAG AA)" +
        '\n  The nearest color that passes is "#b45616".',
    ],
  },
  {
    behaviour: "each color of an accent is checked for its own pages",
    files: config({ brand: { accent: { light: "#00656A", dark: "#00656a" } } }),
    problems: [
      "catalog.yaml:5:15 error[config-brand] #00656a on dark pages has a contrast of 2.45 : 1, expected at least 4.5 : 1 (WCAG AA)" +
        '\n  The nearest color that passes is "#479093".',
    ],
  },
  {
    behaviour: "pictures that cannot be shown are reported",
    files: {
      ...config({ brand: { logo: "brand/lost.svg", favicon: "brand/program.svg" } }),
      "brand/program.svg":
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>1</script></svg>',
    },
    problems: [
      "catalog.yaml:3:13 error[config-brand] brand/lost.svg does not exist" +
        "\n  Correct the picture, or the entry in catalog.yaml.",
      "brand/program.svg:1:59 error[config-brand] the drawing has <script>, expected only shapes, text and styles that load nothing" +
        "\n  Remove it, or export the drawing again: Inkscape as Plain SVG, Illustrator with Export As. Turn texts in special fonts into paths.",
    ],
  },
  {
    behaviour: "a picture must be what its name says, and have a size",
    files: {
      ...config({ brand: { logo: "brand/text.png", favicon: "brand/boundless.svg" } }),
      "brand/text.png": "text",
      "brand/boundless.svg": '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    },
    problems: [
      "catalog.yaml:3:13 error[config-brand] brand/text.png is not a PNG file" +
        "\n  Correct the picture, or the entry in catalog.yaml.",
      "catalog.yaml:4:16 error[config-brand] brand/boundless.svg has no viewBox, expected one such as 0 0 120 40" +
        "\n  Correct the picture, or the entry in catalog.yaml.",
    ],
  },
  {
    behaviour: "a picture outside of brand/ is reported",
    files: config({ brand: { logo: "../logo.svg" } }),
    problems: [
      'catalog.yaml:3:13 error[path-format] brand.logo is "../logo.svg", expected an SVG or PNG file in brand/ next to catalog.yaml, such as brand/logo.svg',
    ],
  },
];
