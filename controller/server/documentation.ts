import { caching } from "../../service/http/answers.ts";
import { type ApiDocument, apiReference } from "../../shared/api-reference.ts";
import type { Answer } from "./call.ts";
import { controllerOpenApi, controllerOpenApiText } from "./openapi.ts";
import { assetPaths, pagePolicy, render } from "./pages/templates.ts";
import { apiPath } from "./routes.ts";

/** Cached, because they depend only on the program. */
let description: string | undefined;
let page: string | undefined;

export function readOpenApi(): Answer {
  description ??= controllerOpenApiText();
  return { status: 200, text: description };
}

/** The API documentation for people. */
export function readDocs(): Answer {
  page ??= render("reference", {
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
  return { status: 200, headers, text: page };
}
