import { type ArtifactName, listedIds, type ServedSite } from "./catalog.ts";
import type { Exchange } from "./contract.ts";
import type { Expected } from "./expectation.ts";

const listPath = "/api/v1/package/";
const file = {
  list: "api/v1/package/index.json",
  newest: "api/v1/package/ordering=-id.json",
  page: "api/v1/package/index.html",
};
export const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
export const caching = "public, max-age=60, stale-while-revalidate=600";
const allow = "GET, POST, HEAD, OPTIONS";

/** Headers of every answer at the list's address. */
const common = { allow, vary: /^Accept, ?Accept-Encoding$/i, "x-content-type-options": "nosniff" };

const asJson = (expected: Partial<Expected>): Expected => ({
  status: 200,
  ...expected,
  headers: { ...common, "content-type": "application/json", "cache-control": caching },
});

const asPage = (cacheControl: string): Expected => ({
  status: 200,
  file: file.page,
  headers: {
    ...common,
    "content-type": /^text\/html; ?charset=utf-8$/i,
    "cache-control": cacheControl,
    "content-security-policy": /^default-src 'none';/,
  },
});

const withoutFile = ({ status, headers = {} }: Expected): Expected => ({ status, headers });

const refused = (status: number, text: string | RegExp): Expected => ({
  status,
  text,
  headers: { ...common, "content-type": "application/json", "cache-control": "no-store" },
});

const notFound = refused(404, '{"detail":"Not found."}');

/** `GET /api/v1/package/` in all its forms. */
export function listRequests(site: ServedSite): Exchange[] {
  const row = (
    part: Exchange["part"],
    name: string,
    query: string,
    expected: Expected,
    accept = "*/*",
  ): Exchange => ({
    part,
    name,
    path: listPath + query,
    headers: accept === "" ? {} : { Accept: accept },
    expected,
  });
  const whole = asJson({ file: file.list });
  const records = (...names: ArtifactName[]) => {
    const wanted = new Set(names.map((name) => site.ids[name]));
    return asJson({ ids: listedIds(site).filter((id) => wanted.has(id)) });
  };
  const debs20 = records("core20", "gui20", "oldCore20");
  const debs22 = records("core22", "gui22");
  const debs = records("core20", "gui20", "core22", "gui22", "oldCore20");
  const nothing = asJson({ text: "[]" });
  return [
    row("list", "anything is acceptable", "", whole),
    row("list", "no Accept header", "", whole, ""),
    row("list", "JSON is acceptable", "", whole, "application/json"),
    row("list", "any application type is acceptable", "", whole, "application/*"),
    {
      ...row("list", "HEAD says the length and sends nothing", "", whole),
      method: "HEAD",
      expected: head(site),
    },
    {
      part: "list",
      name: "under its other address",
      path: "/api/v1/package.json",
      expected: { status: 200, file: file.list },
    },
    { part: "list", name: "the root names the list", path: "/api/v1/", expected: root(site) },

    row("rendering", "a browser gets the page, which is not cached", "", asPage("no-store"), browser),
    row("rendering", "HTML is acceptable", "", asPage("no-store"), "text/html"),
    row("rendering", "any text is acceptable", "", asPage("no-store"), "text/*"),
    row("rendering", "JSON is named besides HTML", "", whole, "text/html, application/json"),
    row("rendering", "format=json wins over a browser's header", "?format=json", whole, browser),
    row("rendering", "format=api has an address of its own and may be kept", "?format=api", asPage(caching)),
    row("rendering", "format=api wins over JSON", "?format=api", asPage(caching), "application/json"),
    row("rendering", "an unknown format", "?format=xml", notFound),
    row("rendering", "a format in capitals is unknown", "?format=JSON", notFound),
    row("rendering", "an empty format is none", "?format=", whole),
    row("rendering", "the last of two formats counts", "?format=api&format=json", whole, browser),
    row("rendering", "a percent-encoded format", "?format=%6Ason", whole, browser),
    row(
      "rendering",
      "nothing acceptable",
      "",
      refused(406, '{"detail":"Could not satisfy the request Accept header."}'),
      "image/png",
    ),
    row(
      "weights",
      "HTML is liked better than JSON",
      "",
      asPage("no-store"),
      "application/json;q=0.5, text/html;q=0.9",
    ),
    row("weights", "JSON is liked better than HTML", "", whole, "text/html;q=0.1, application/json"),
    row("weights", "JSON is refused", "", asPage("no-store"), "application/json;q=0, text/html"),

    row("ordering", "by id, newest first", "?ordering=-id", asJson({ file: file.newest })),
    row("ordering", "a percent-encoded minus", "?ordering=%2Did", asJson({ file: file.newest })),
    row("ordering", "terms after the id are ignored", "?ordering=-id,version", asJson({ file: file.newest })),
    row(
      "ordering",
      "the last of two counts",
      "?ordering=version&ordering=-id",
      asJson({ file: file.newest }),
    ),
    row("ordering", "unknown terms", "?ordering=pk,--id", whole),
    row("ordering", "a path is only an unknown term", "?ordering=../../x", whole),
    row(
      "orderings",
      "by id, oldest first",
      "?ordering=id",
      asJson({ ids: listedIds(site).sort((a, b) => a - b) }),
    ),
    row(
      "orderings",
      "a filtered list by id",
      "?package_type=deb&ordering=-id",
      asJson({ ids: [...(debs.ids ?? [])].sort((a, b) => b - a) }),
    ),

    row(
      "facets",
      "as installers ask",
      "?operating_system=linux&package_type=deb&max_os_version=20.04",
      debs20,
    ),
    row(
      "facets",
      "in another order",
      "?max_os_version=20.04&operating_system=linux&package_type=deb",
      debs20,
    ),
    row("facets", "percent-encoded", "?package_type=%64eb&max_os_version=20%2E04", debs20),
    row("facets", "a lower bound", "?package_type=deb&min_os_version=22.04", debs22),
    row("facets", "a package type", "?package_type=deb", debs),
    row("facets", "a package type with a dash", "?package_type=qcow-efi", records("image", "oldImage")),
    row(
      "facets",
      "an operating system",
      "?operating_system=linux",
      records("core20", "gui20", "core22", "gui22", "rpm", "oldCore20"),
    ),
    row(
      "facets",
      "an operating system in capitals is another",
      "?operating_system=Linux",
      records("image", "oldImage"),
    ),
    row("facets", "withdrawn records are not listed", "?package_type=rpm", records("rpm")),
    row("facets", "a package type of private records only", "?package_type=pkg", nothing),
    row(
      "facets",
      "an operating system that contradicts the type",
      "?operating_system=windows&package_type=deb",
      nothing,
    ),
    row("facets", "an unknown operating system", "?operating_system=LINUX", nothing),
    row("facets", "an unknown package type", "?package_type=none", nothing),
    row("facets", "a bound that no record has", "?package_type=deb&max_os_version=18.04", nothing),
    row(
      "facets",
      "bounds that no record has together",
      "?package_type=deb&max_os_version=20.04&min_os_version=22.04",
      nothing,
    ),
    row("facets", "the last of two counts", "?package_type=rpm&package_type=deb", debs),
    row("facets", "a path is only an unknown type", "?package_type=../../../../etc/passwd", nothing),
    row("facets", "format=json changes nothing", "?format=json&package_type=deb", debs, browser),
    row("filters", "a version", "?version=26.07.001", records("oldCore20", "oldMsi", "chart", "oldImage")),
    row("filters", "the latest version of a type", "?version=latest&package_type=msi", records("oldMsi")),
    row("filters", "a variant", "?package_type=deb&gui_only=true", records("gui20", "gui22")),
    row("filters", "an empty bound asks for none", "?package_type=deb&max_os_version=", debs22),
    row("filters", "a bound without a type", "?min_os_version=22.04", debs22),
    row("filters", "a month's line", "?package_type=deb&line=26.07", records("oldCore20")),
    row("filters", "a filtered page", "?package_type=msi&format=api", withoutFile(asPage(caching))),

    row("unknown", "are ignored", "?colour=red&package_type=deb", debs),
    row("unknown", "known names in capitals are unknown", "?Format=api&PACKAGE_TYPE=rpm", whole),
    row(
      "unknown",
      "strict=1 refuses them",
      "?strict=1&colour=red",
      refused(400, /^\{"detail":"Unknown parameters/),
    ),
    row("unknown", "strict=1 takes what is known", "?strict=1&package_type=deb", debs),
    row("ignored", "a parameter that changed nothing", "?colour=red", {
      status: 200,
      headers: { "x-ignored-parameters": "colour" },
    }),
  ];
}

const head = ({ tree }: ServedSite): Expected => ({
  ...asJson({ text: "" }),
  headers: { ...common, "content-length": String(tree.get(file.list)?.length) },
});

const root = ({ base }: ServedSite): Expected => ({
  status: 200,
  json: { package: `https://downloads.example.com${base}/api/v1/package/` },
  headers: { "content-type": "application/json" },
});
