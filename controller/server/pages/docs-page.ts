import { caching } from "../../../service/http/answers.ts";
import type { Answer } from "../call.ts";
import { documentation } from "./docs-model.ts";
import { pagePolicy } from "./policy.ts";
import { assetPaths, render } from "./templates.ts";

/** Cached, because it depends only on the program. */
let text: string | undefined;

/** `GET docs`: the API documentation for people. */
export function docsPage(): Answer {
  text ??= render("docs", {
    layout: {
      title: "API documentation",
      product: "Device management",
      ...assetPaths(),
      nav: [],
      who: "",
      said: "",
    },
    ...documentation(),
  });
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": pagePolicy,
    "Cache-Control": caching.none,
  };
  return { status: 200, headers, text };
}
