import { type ArtifactName, type ServedSite, urlOf } from "./catalog.ts";
import type { Exchange, Part } from "./contract.ts";
import { browser, caching } from "./contract-list.ts";
import type { Expected } from "./expectation.ts";

const packages = "/api/v1/package/";
const allow = "GET, HEAD, OPTIONS";
const common = { allow, vary: /^Accept, ?Accept-Encoding$/i, "x-content-type-options": "nosniff" };
const json = { ...common, "content-type": "application/json" };

const refused = (status: number, text: string | RegExp): Expected => ({ status, text, headers: json });
const notFound = refused(404, '{"detail":"Not found."}');
const leadsTo = (location: string | RegExp, status = 302): Expected => ({
  status,
  headers: { ...common, location },
});

/** One record, its file, and the newest of a kind. */
export function apiRequests(site: ServedSite): Exchange[] {
  const row = (
    part: Part,
    name: string,
    path: string,
    expected: Expected,
    more: Partial<Exchange> = {},
  ): Exchange => ({
    part,
    name,
    path: packages + path,
    headers: { Accept: "*/*" },
    expected,
    ...more,
  });
  const id = (name: ArtifactName) => `${site.ids[name]}/`;
  const file = (name: ArtifactName) => leadsTo(urlOf(name));
  const gone: Expected = {
    status: 410,
    json: { id: site.ids.oldRpm, reason: "Overwrites settings.", replaced_by: site.ids.rpm },
    headers: { ...json, "cache-control": caching },
  };
  const latest = (name: string, query: string, expected: Expected, part: Part = "latest") =>
    row(part, name, `latest/${query}`, expected);
  return [
    row("record", "a record", id("core20"), {
      status: 200,
      file: `api/v1/package/${id("core20")}index.json`,
      headers: { ...json, "cache-control": caching },
    }),
    row(
      "record",
      "format=json wins over a browser's header",
      `${id("rpm")}?format=json`,
      { status: 200, headers: json },
      { headers: { Accept: browser } },
    ),
    row(
      "record",
      "a browser is led to its place on the release's page",
      id("core20"),
      {
        status: 302,
        headers: {
          "cache-control": "no-store",
          location: new RegExp(`${site.base}/releases/26\\.08\\.001/#p${site.ids.core20}$`),
        },
      },
      { headers: { Accept: browser } },
    ),
    row("record", "an unknown id", "4711/", notFound),
    row("record", "a private record", id("hidden"), notFound),
    row("record", "no id at all", "abc/", { status: 404, text: '{"detail":"Not found."}' }),
    row("record", "an id with zeros in front", `0${id("core20")}`, {
      status: 404,
      text: '{"detail":"Not found."}',
    }),
    row("record", "nothing acceptable", id("core20"), refused(406, /Accept/), {
      headers: { Accept: "image/png" },
    }),
    row("record", "HEAD", id("core20"), { status: 200, text: "", headers: json }, { method: "HEAD" }),

    row("gone", "says why and what instead, the second time too", id("oldRpm"), gone, { again: gone }),
    row(
      "gone",
      "a page for a browser",
      id("msi"),
      {
        status: 410,
        headers: { "content-type": /^text\/html/, "cache-control": "no-store" },
        text: /Does not start\./,
      },
      { headers: { Accept: browser } },
    ),
    row("gone", "without a replacement", id("msi"), {
      status: 410,
      json: { reason: "Does not start.", replaced_by: null },
      headers: json,
    }),
    row("gone", "its file too", `${id("msi")}download/`, {
      status: 410,
      json: { id: site.ids.msi },
      headers: json,
    }),

    row("download", "leads to the file", `${id("core20")}download/`, {
      ...file("core20"),
      headers: { ...file("core20").headers, "cache-control": caching },
    }),
    row("download", "of an older release", `${id("oldCore20")}download/`, file("oldCore20")),
    row("download", "HEAD", `${id("image")}download/`, file("image"), { method: "HEAD" }),
    row("download", "for a browser too", `${id("image")}download/`, file("image"), {
      headers: { Accept: browser },
    }),
    row("download", "of an unknown id", "4711/download/", notFound),
    row("download", "of a private record", `${id("hidden")}download/`, notFound),

    latest("the only one", "?package_type=qcow-efi", file("image")),
    latest("the highest version that has one", "?package_type=msi", file("oldMsi")),
    latest("a version and a variant", "?package_type=deb&max_os_version=20.04&headless=true", file("core20")),
    latest("a flag as a digit", "?gui_only=1&package_type=deb&min_os_version=22.04", file("gui22")),
    latest("a flag that is not set", "?package_type=deb&max_os_version=20.04&gui_only=false", file("core20")),
    latest("an empty bound asks for none", "?package_type=deb&max_os_version=&headless=true", file("core22")),
    latest("the operating system of the type", "?operating_system=linux&package_type=rpm", file("rpm")),
    latest(
      "an operating system that contradicts the type",
      "?operating_system=windows&package_type=rpm",
      notFound,
    ),
    latest("an unknown type", "?package_type=none", notFound),
    latest("a bound that no record has", "?package_type=deb&max_os_version=18.04", notFound),
    latest("several of a type", "?package_type=deb", refused(400, /min_os_version.*gui_only/)),
    latest(
      "several of a version",
      "?package_type=deb&max_os_version=20.04",
      refused(400, /gui_only, headless/),
    ),
    latest("no type", "", { status: 400, headers: json }),
    latest(
      "an unknown parameter may be the one that mattered",
      "?package_type=deb&colour=red",
      refused(400, /^\{"detail":"Unknown parameters/),
    ),
    latest("a month's line", "?package_type=deb&line=26.07", file("oldCore20"), "latestLine"),

    row(
      "methods",
      "OPTIONS of the list",
      "",
      {
        status: 200,
        json: { name: "Package List" },
        headers: { allow: "GET, POST, HEAD, OPTIONS", "content-type": "application/json" },
      },
      { method: "OPTIONS" },
    ),
    row(
      "methods",
      "OPTIONS of a record",
      id("core20"),
      { status: 200, json: { name: "Package Instance" }, headers: { allow } },
      { method: "OPTIONS" },
    ),
    row(
      "methods",
      "PUT on the list",
      "",
      {
        status: 405,
        text: '{"detail":"Method \\"PUT\\" not allowed."}',
        headers: { allow: "GET, POST, HEAD, OPTIONS", "content-type": "application/json" },
      },
      { method: "PUT" },
    ),
    row(
      "methods",
      "POST without a handler",
      "",
      { status: 405, headers: { allow: "GET, POST, HEAD, OPTIONS" } },
      { method: "POST" },
    ),
    row(
      "methods",
      "DELETE on a record",
      id("core20"),
      { status: 405, headers: { allow, "content-type": "application/json" } },
      { method: "DELETE" },
    ),

    ...slashes(site),
  ];
}

const slashes = ({ base, ids }: ServedSite): Exchange[] =>
  (
    [
      ["the list", "GET", "/api/v1/package", "?ordering=-id", 301],
      ["a record", "GET", `/api/v1/package/${ids.core20}`, "?format=json", 301],
      ["a download", "HEAD", `/api/v1/package/${ids.core20}/download`, "", 301],
      ["the newest", "GET", "/api/v1/package/latest", "?package_type=deb&headless=1", 301],
      ["a POST keeps its body", "POST", "/api/v1/package", "", 308],
    ] as const
  ).map(([name, method, path, query, status]) => ({
    part: "slash",
    name,
    method,
    path: path + query,
    expected: { status, headers: { location: endingIn(`${base}${path}/${query}`) } },
  }));

/** A path, alone or behind a host. */
const endingIn = (path: string) => new RegExp(`^(?:https?://[^/]+)?${path.replace(/[.?]/g, "\\$&")}$`);
