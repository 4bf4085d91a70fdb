import { expect, test } from "vitest";
import { servedSite } from "./catalog.ts";
import { cloudfront, functionsOf } from "./homes/cloudfront.ts";
import { runContract } from "./run-contract.ts";

runContract(cloudfront);

test("the functions are within CloudFront's limits, below a long path too", async () => {
  const { tree } = await servedSite(`/${"product-".repeat(12)}`);
  for (const name of ["viewer-request.js", "viewer-response.js"]) {
    const text = String(tree.get(`hosting/cloudfront/${name}`));
    expect(Buffer.byteLength(text), name).toBeLessThan(10_240);
    expect(text, "the runtime knows none of these").not.toMatch(
      /\?\.|\?\?|\.\.\.|class |for ?\(const \w+ of|\(\?<|\(\?i|async ?\(|(?<!=|return )await /,
    );
  }
  const { data } = JSON.parse(String(tree.get("hosting/cloudfront/redirects.json")));
  for (const { key, value } of data) {
    expect(Buffer.byteLength(key)).toBeLessThanOrEqual(512);
    expect(Buffer.byteLength(value)).toBeLessThanOrEqual(1024);
  }
});

test("an outage of the key value store is an error, which CloudFront answers with 503", async () => {
  const { tree } = await servedSite("");
  const outage = async () => {
    throw new Error("the store does not answer");
  };
  const stores = [
    { exists: outage, get: outage },
    { exists: async () => true, get: outage },
  ];
  for (const store of stores) {
    const { onRequest } = functionsOf(tree, store);
    const request = { uri: "/api/v1/package/", method: "GET", headers: {} };
    const querystring = { package_type: { value: "deb" } };
    await expect(onRequest({ request: { ...request, querystring } })).rejects.toThrow("does not answer");
  }
});
