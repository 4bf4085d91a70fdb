import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { templateFaults } from "../../pipeline/project/pages/template-faults.ts";
import { repository } from "../support/run.ts";

const faultsOf = (text: string) =>
  templateFaults("home.hbs", text).map(({ message, line, column }) => `${line}:${column} ${message}`);

test.each([
  ['<meta http-equiv=refresh content="0;url=//evil.example">', '<meta http-equiv="refresh"> is not allowed'],
  ['<meta HTTP-EQUIV="set&#45;cookie" content="a=b">', '<meta http-equiv="set-cookie"> is not allowed'],
  ['<base href="//evil.example/">', "<base> is not allowed"],
  ['<a href="javascript:alert(1)">', "an address begins with javascript:"],
  ['<a href="java&#115;cript:alert(1)">', "an address begins with javascript:"],
  ['<a href=" jav&Tab;ascript&colon;alert(1)">', "an address begins with javascript:"],
  ['<a href="VBScript:x">', "an address begins with VBScript:"],
  ['<a href="data:text/html,x">', "an address begins with data:"],
  ['<a href="java{{#if all}}script:{{/if}}x">', "an address begins with java……"],
  ['<form action="javascript:x">', "an address begins with javascript:"],
  ['<button formaction="https&#58;//evil.example">', "pages load nothing from other hosts"],
  ['<img src="/\\evil.example/x.png">', "pages load nothing from other hosts"],
  ['<img srcset="a.png 1x, //evil.example 2x">', "pages load nothing from other hosts"],
  ['<link rel="stylesheet" href="https&colon;//evil.example">', "pages load nothing from other hosts"],
  ['<svg><use href="//evil.example/a.svg#b"/></svg>', "pages load nothing from other hosts"],
  ["<iframe srcdoc='<p>'></iframe>", "<iframe> is not allowed"],
  ["<object data=x></object>", "<object> is not allowed"],
  ["<svg><animate attributeName=href></svg>", "<animate> is not allowed"],
  ["<svg><foreignObject></svg>", "<foreignobject> is not allowed"],
  ["<noscript><p title='</noscript><img src=x>'>", "an expression begins or ends inside a tag"],
  ["<img src=x onerror=alert(1)>", "scripts in a page are forbidden"],
  ["<img src=x oNerror&#61;=1>", "scripts in a page are forbidden"],
  ['<script src="a.js">alert(1)</script>', "scripts in a page are forbidden"],
  ["<title><script>1</script></title>", "a tag inside <title> is not allowed"],
  ["<{{#if all}}script{{/if}}>", "an expression begins or ends inside a tag"],
  ["<p o{{#if all}}{{/if}}nclick='x'>", "an expression begins or ends inside a tag"],
  [
    "<p {{#if all}}title='{{/if}} onclick=x {{#if all}}'{{/if}}>",
    "an expression begins or ends inside a tag",
  ],
  ["{{#if all}}<!--{{/if}}<script>1</script>-->", "an expression begins or ends inside a tag"],
  ["<a {{#if all}} href='#' {{else}} href='javascript:x' {{/if}}>", "an attribute occurs twice"],
  ["\\{{ <script>1</script> }}", "a backslash before braces"],
  ["<noscript><!--</noscript><script>1</script>-->", "an expression begins or ends inside a tag"],
  ["<s{{all}}>", "an expression begins or ends inside a tag"],
  ["<p {{all}}='x'>", "an expression begins or ends inside a tag"],
  ["<p ping='x'>", "the attribute ping is not allowed"],
  ["<style>p{}</style>", "styles in a page are forbidden"],
])("%s is refused", (markup, fault) => {
  expect(faultsOf(`{{! a }}\n ${markup}`)).toContainEqual(expect.stringContaining(fault));
  expect(faultsOf(`{{! a }}\n ${markup}`)[0]).toMatch(/^2:\d+ /);
});

test.each([
  '<a href="{{all}}" class="a {{#if all}}b{{else}}c{{/if}}">',
  '<a href="https://example.com/?a=b:c"{{#if all}} aria-current="true"{{/if}}>',
  '<a href="mailto:a@example.com">A &lt; B</a><!-- a comment --><p title="a > b">',
  '<picture><source srcset="a.png 1x, b.png 2x"><img src="{{all}}" alt=""></picture><details open><summary>',
  '<svg viewBox="0 0 9 9" aria-hidden="true"><linearGradient id="a"/><path fill="url(#a)" d="M0 0"/></svg>',
  '<script src="{{all}}" defer></script><link rel="stylesheet" href="assets/a.css">',
])("%s is accepted", (markup) => {
  expect(faultsOf(markup)).toEqual([]);
});

const own = readdirSync(join(repository, "templates")).filter((name) => name.endsWith(".hbs"));

test.each(own)("relcat's own %s has no fault", (name) => {
  const text = readFileSync(join(repository, "templates", name), "utf8");
  expect(templateFaults(name, text)).toEqual([]);
});
