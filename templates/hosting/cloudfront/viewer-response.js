// Written by relcat for CloudFront Functions, cloudfront-js-2.0, event type viewer-response, on the behaviours of
// viewer-request.js. It says how long an answer may be kept, and what a page may load.
const site = {};

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it
function handler(event) {
  const uri = decodeURIComponent(event.request.uri);
  const headers = event.response.headers;
  const set = (name, value) => {
    headers[name] = { value: value };
  };
  for (const name in site.always) set(name, site.always[name]);
  const isApi = site.packages.test(uri);
  set("allow", site.list.test(uri) ? site.allow.list : site.allow.other);
  set("vary", isApi ? site.vary : "Accept-Encoding");
  const file = site.artifact.test(uri) ? site.download : site.public;
  set("cache-control", site.asset.test(uri) ? site.immutable : file);
  if (site.feed.test(uri)) set("cache-control", site.hashed.test(uri) ? site.upload : site.download);
  if (/^[/]v2[/]/.test(uri)) for (const name in site.registry) set(name, site.registry[name]);
  const digest = /^[/]v2[/].*[/](sha256:[0-9a-f]+)$/.exec(uri);
  if (digest) set(site.digest, digest[1]);
  const asked = event.request.querystring.format;
  const values = asked ? asked.multiValue || [asked] : [{ value: "" }];
  const isPage = /[.]html$/.test(uri);
  // A page that nobody named in the address must not be kept: a cache could hand it to an installer.
  if (isApi && isPage && values[values.length - 1].value === "") set("cache-control", "no-store");
  for (const extension in site.policies)
    if (uri.endsWith(`.${extension}`)) set("content-security-policy", site.policies[extension]);
  return event.response;
}
