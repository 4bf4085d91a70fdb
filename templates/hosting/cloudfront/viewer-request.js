// Written by relcat: viewer-request, cloudfront-js-2.0, with viewer-response.js and a KeyValueStore from redirects.json.
import cf from "cloudfront";

const store = cf.kvs();
const site = {};
const field = RegExp(`^(?:${site.fields}|data)$`);
const known = RegExp(`^(?:${site.fields}|${site.settings}|line)$`);
const forList = RegExp(`^(?:${site.ready}|${site.settings})$`);
const forLatest = RegExp(`^(?:${site.ready}|${site.settings}|${site.variants})$`);

function reply(status, body, headers) {
  const all = { "content-type": { value: "application/json" }, "cache-control": { value: "no-store" } };
  for (const name in site.always) all[name] = { value: site.always[name] };
  for (const name in headers) all[name] = { value: headers[name] };
  const response = { statusCode: status, headers: all };
  if (body === "") delete all["content-type"];
  else response.body = { encoding: "text", data: body };
  return response;
}

// A reply in words of the store. The runtime refuses `await` in arguments, and async arrow functions.
async function say(status, name, headers) {
  const text = await lookUp(`text:${name}`);
  return reply(status, text, headers);
}

const redirect = (status, location, headers) =>
  reply(status, "", Object.assign({ location: location, "cache-control": site.public }, headers));

function first(rules, text, otherwise) {
  for (let i = 0; i < rules.length; i++) if (rules[i][0].test(text)) return rules[i][1];
  return otherwise;
}

function last(query, name) {
  const found = query[name];
  if (!found) return undefined;
  return found.multiValue ? found.multiValue[found.multiValue.length - 1].value : found.value;
}

// Whether there is a parameter that is not among `names`; with `among`, only one of those counts.
function hasOther(query, names, among) {
  for (const name in query) if (!names.test(name) && (!among || among.test(name))) return true;
  return false;
}

function search(query) {
  const parts = [];
  for (const name in query) {
    const values = query[name].multiValue || [query[name]];
    for (let i = 0; i < values.length; i++)
      parts.push(values[i].value === "" ? name : `${name}=${values[i].value}`);
  }
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

// As the catalog writes links. S3 reads a raw "+" as a space, and decodes what it is handed a second time.
const encoded = (path) => encodeURIComponent(path).replace(/%2F/g, "/");

// To the address with a final slash.
const toFolder = (status, path, query, headers) =>
  redirect(status, `${site.base}${encoded(path)}/${search(query)}`, headers);

function decoded(raw) {
  try {
    return decodeURIComponent(raw.replace(/[+]/g, " "));
  } catch (_) {
    return "\n";
  }
}

// The first term that is a field decides: "-id" is prepared.
function orderingOf(query) {
  const terms = decoded(last(query, "ordering") || "").split(",");
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i].trim();
    if (field.test(term.replace("-", ""))) return term === "-id" ? term : "other";
  }
  return "";
}

// The name that a parameter's value has in the store; "-" is in no table.
function named(query, name, isBound) {
  const raw = last(query, name);
  if (raw === undefined) return "";
  const value = decoded(raw);
  if (isBound && (value === "" || value === "null")) return "null";
  if (!/^[0-9A-Za-z][0-9A-Za-z._-]*$/.test(value)) return site.unready ? "unready" : "-";
  return value.replace(/[A-Z]/g, (capital) => `!${capital.toLowerCase()}`);
}

// `get` fails for a key that is missing, and in an outage, which must not look like a catalog without entries.
async function lookUp(key) {
  const found = await store.exists(key);
  return found && store.get(key);
}

async function lookUpOr(rules, table, key) {
  const found = await lookUp(`${table}:${key}`);
  return found || first(rules, key);
}

async function scopeOf(query) {
  const key = `${named(query, "operating_system")}|${named(query, "package_type")}`;
  return key === "|" ? "whole" : lookUpOr(site.otherScopes, "scope", key);
}

const bounds = (query) => `${named(query, "min_os_version", true)}|${named(query, "max_os_version", true)}`;

async function listFile(query, format) {
  if (hasOther(query, forList, known)) return undefined;
  const scope = await scopeOf(query);
  const key = `${scope}|${bounds(query)}`;
  let list = site.list;
  if (key !== "whole||") list = await lookUpOr(site.otherLists, "list", key);
  const ordering = orderingOf(query);
  if (list === "unready") return undefined;
  if (list !== site.list) return format === "json" && ordering === "" ? list : undefined;
  if (ordering === "-id") return format === "json" ? site.newest : undefined;
  return ordering === "" ? (format === "json" ? list : site.page) : undefined;
}

async function answerList(request, query, format, headers) {
  if (/^(?:1|true)$/.test(last(query, "strict") || "") && hasOther(query, known))
    return say(400, "unknownParameter", headers);
  const file = await listFile(query, format);
  if (file === undefined) return say(501, "notPrepared", headers);
  request.uri = `/${file}`;
  return request;
}

async function answerLatest(query, headers) {
  if (hasOther(query, known)) return say(400, "unknownParameter", headers);
  if (hasOther(query, forLatest, known)) return say(501, "notPreparedLatest", headers);
  const flag = (name) => {
    const value = last(query, name);
    return value === undefined ? "" : first(site.flags, value, "-");
  };
  const scope = await scopeOf(query);
  const key = `${scope}|${bounds(query)}|${flag("gui_only")}|${flag("headless")}`;
  const found = await lookUpOr(site.otherLatest, "latest", key);
  const rest = found.slice(4);
  if (found.slice(0, 4) === "302 ") return redirect(302, rest, headers);
  if (found.slice(0, 4) === "400 ") return reply(400, rest, headers);
  if (found === "400") return say(400, "unnamedType", headers);
  return found === "501" ? say(501, "notPreparedLatest", headers) : say(404, "notFound", headers);
}

async function answerPackage(request, id, isDownload, format, byHeader, headers) {
  const entry = await lookUp(`id:${id}`);
  if (!entry) return say(404, "notFound", headers);
  const value = entry.slice(entry.indexOf(" ") + 1);
  if (entry.slice(0, 5) === "gone ")
    return reply(410, value, Object.assign({ "cache-control": site.public }, headers));
  if (isDownload) return redirect(302, value, headers);
  if (format === "html") {
    const page = `${site.base}/releases/${entry.slice(0, entry.indexOf(" "))}/#p${id}`;
    return redirect(302, page, Object.assign(byHeader ? { "cache-control": "no-store" } : {}, headers));
  }
  request.uri = `/api/v1/package/${id}/index.json`;
  return request;
}

async function answerApi(request, path, name, id) {
  const query = request.querystring;
  const headers = { allow: name === "list" ? site.allow.list : site.allow.other, vary: site.vary };
  const asked = first(site.format, decoded(last(query, "format") || ""), "bad");
  const accept = request.headers.accept ? request.headers.accept.value : "";
  const format = asked === "accept" ? first(site.accept, accept, "none") : asked;
  if (format === "bad") return say(404, "notFound", headers);
  if (format === "none") return say(406, "notAcceptable", headers);
  if (request.method === "OPTIONS") return say(200, name, headers);
  if (!/^(?:GET|HEAD)$/.test(request.method)) return notAllowed(request, headers);
  const byHeader = asked === "accept" && format === "html";
  if (name === "list") return answerList(request, query, format, headers);
  if (name === "latest") return answerLatest(query, headers);
  if (id !== "") return answerPackage(request, id, name === "download", format, byHeader, headers);
  request.uri = `${path}index.json`;
  return request;
}

const notAllowed = (request, headers) =>
  reply(405, JSON.stringify({ detail: `Method "${request.method}" not allowed.` }), headers);

async function answerFile(request, path) {
  const isApi = path.slice(0, 5) === "/api/";
  const headers = { allow: site.allow.other, vary: "Accept-Encoding" };
  // No site has it: the origin's 404 becomes the page.
  request.uri = "/404.html/none";
  if (
    /[/][.](?!well-known[/](?:security[.](?:txt|undated)|packslip[.](?:unsigned[.])?json)$)|^[/]hosting(?:[/]|$)/.test(
      path,
    )
  )
    return request;
  if (request.method === "OPTIONS") return say(200, "file", headers);
  if (!/^(?:GET|HEAD)$/.test(request.method)) return notAllowed(request, headers);
  if (site.folders.test(path)) return toFolder(301, path, request.querystring, headers);
  const isUnknown = isApi && /[/]$/.test(path) && !site.folders.test(path.slice(0, -1));
  if (isUnknown) return say(404, "notFound", headers);
  const index = /^[/](?:v2[/]$|api[/](?!reference[/]|v1[/]package[/]page[/]))/.test(path)
    ? "index.json"
    : "index.html";
  request.uri = /[/]$/.test(path) ? path + index : path;
  if (path.slice(0, 4) !== "/v2/") return request;
  // A tag of a registry leads to the file that is named by its digest.
  const digest = await lookUp(`tag:${path}`);
  if (digest) request.uri = path.replace(/[^/]+$/, digest);
  return request;
}

async function answer(request) {
  let path = "";
  try {
    path = decodeURIComponent(request.uri);
  } catch (_) {
    return say(400, "notFound", {});
  }
  if (path === site.base) return toFolder(301, "", request.querystring, {});
  if (path.indexOf(`${site.base}/`) !== 0) return say(404, "notFound", {});
  path = path.slice(site.base.length);
  if (site.slashless.test(path)) {
    const status = /^(?:GET|HEAD)$/.test(request.method) ? 301 : 308;
    return toFolder(status, path, request.querystring, {});
  }
  if (path === "/api/v1/") return answerApi(request, path, "root", "");
  if (path === "/api/v1/package/") return answerApi(request, path, "list", "");
  if (path === "/api/v1/package/latest/") return answerApi(request, path, "latest", "");
  const record = /^[/]api[/]v1[/]package[/]([1-9][0-9]*)[/](download[/])?$/.exec(path);
  if (record) return answerApi(request, path, record[2] ? "download" : "record", record[1]);
  return answerFile(request, path);
}

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it
async function handler(event) {
  const found = await answer(event.request);
  if (found.uri) found.uri = encoded(found.uri);
  return found;
}
