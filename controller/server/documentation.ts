import type { Answer } from "./call.ts";

/** Cached, because it depends only on the program. */
let description: string | undefined;

export async function readOpenApi(): Promise<Answer> {
  if (description === undefined) {
    const { controllerOpenApiText } = await import("./openapi.ts");
    description = controllerOpenApiText();
  }
  return { status: 200, text: description };
}

export async function readDocs(): Promise<Answer> {
  const { docsPage } = await import("./pages/docs-page.ts");
  return docsPage();
}
