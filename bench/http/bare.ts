import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/**
 * The least that Node can do: one answer from memory, whatever is asked, header for header and byte for byte.
 * `node bare.ts BODY HEADERS PORT`, the headers as a JSON array of names and values in turn
 */
const [, , file = "", headersFile = "", port = ""] = process.argv;
const body = readFileSync(file);
const headers: string[] = JSON.parse(readFileSync(headersFile, "utf8"));
createServer((_, response) => response.writeHead(200, headers).end(body)).listen(Number(port), "127.0.0.1");
