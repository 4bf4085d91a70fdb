import { z } from "zod";
import { manifestSchema } from "../../pipeline/documents/manifest.ts";
import { type Read, readDocument } from "../../pipeline/project/document.ts";
import { readBytes } from "../../pipeline/project/parse.ts";

const first = ({ problems: [problem] }: Read<unknown>) =>
  problem ? `${problem.at?.line}:${problem.at?.column} ${problem.code} ${problem.message}` : "nothing";

/** The first problem of a text with a value of any shape. */
export const problemIn = (format: "yaml" | "json", text: string) =>
  first(readDocument({ file: `document.${format}`, text }, z.unknown()));

/** The first problem of a manifest's bytes. */
export const problemInManifest = (format: "yaml" | "json", bytes: Uint8Array | string) =>
  first(readBytes(`manifest.${format}`, Buffer.from(bytes), manifestSchema));

/** Only the location and the code. */
export const place = (problem: string) => problem.split(" ", 2).join(" ");
