import { expect, test } from "vitest";
import { copyProject, relcat } from "../support/run.ts";
import { ask, serveFolder } from "./origin.ts";

test("the server answers each search with the page of the site, which says what to do without JavaScript", {
  tags: ["long"],
}, async () => {
  const folder = copyProject(".");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  const { url } = await serveFolder(`${folder}/dist`);
  const page = await ask(url, "/search/");
  expect(page.text).toContain('<a href="../releases/">all releases</a>');
  expect(page.text).toContain("relcat verify FILE");
  for (const query of ["26.08.001 msi", "0".repeat(64), "<script>alert(1)</script>"]) {
    const found = await ask(url, `/search/?q=${encodeURIComponent(query)}`);
    expect([found.status, found.text, found.headers.etag]).toEqual([200, page.text, page.headers.etag]);
  }
});
