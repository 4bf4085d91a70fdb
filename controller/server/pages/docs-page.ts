import { caching } from "../../../service/http/answers.ts";
import { type ApiDocument, apiReference } from "../../../shared/api-reference.ts";
import type { Answer } from "../call.ts";
import { controllerOpenApi } from "../openapi.ts";
import { apiPath } from "../routes.ts";
import { assetPaths, pagePolicy, render } from "./templates.ts";

/** Cached, because it depends only on the program. */
let text: string | undefined;

/** `GET docs`: the API documentation for people. */
export function docsPage(): Answer {
  text ??= render("reference", {
    layout: {
      title: "API reference",
      product: "Device management",
      ...assetPaths(),
      nav: [],
      who: "",
      said: "",
    },
    browse: "",
    openapi: `${apiPath}/openapi.json`,
    ...apiReference(controllerOpenApi() as ApiDocument, "https://CONTROLLER", () => ""),
  });
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": pagePolicy,
    "Cache-Control": caching.none,
  };
  return { status: 200, headers, text };
}
