import { Agent, request } from "node:http";
import { connect } from "node:net";
import { afterFile } from "../support/after-file.ts";

/** @returns everything received until the server closes the connection */
export function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(text, "latin1"));
    socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** Parses the bytes of an answer. */
export function readRaw(text: string): { status: number; head: string; body: string } {
  const end = text.indexOf("\r\n\r\n");
  return { status: Number(text.split(" ")[1]), head: text.slice(0, end), body: text.slice(end + 4) };
}

/** Sends requests over one connection. @returns the status, and whether the connection was reused */
export function keptAlive(url: string, headers: Record<string, string>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  afterFile(() => agent.destroy());
  return (path: string) =>
    new Promise<{ status: number; isSame: boolean }>((resolve, reject) => {
      const sent = request(`${url}${path}`, { agent, headers }, (answer) => {
        answer.resume();
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, isSame: sent.reusedSocket }));
      });
      sent.on("error", reject).end();
    });
}

/** Starts a POST without its body. @returns a function that sends the body and returns the status */
export async function beginPost(url: string, headers: Record<string, string>, body: string) {
  const length = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const sent = request(url, { method: "POST", headers: { ...length, ...headers, expect: "100-continue" } });
  const status = new Promise<number>((resolve, reject) => {
    sent.once("error", reject);
    sent.once("response", (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode ?? 0));
    });
  });
  sent.flushHeaders();
  await new Promise((resolve) => sent.once("continue", resolve));
  return () => {
    sent.end(body);
    return status;
  };
}

/** An event stream that has begun. */
export async function openStream(url: string, headers: Record<string, string>) {
  const response = await fetch(url, { headers });
  const reader = response.body?.getReader();
  await reader?.read();
  const readToEnd = async () => {
    let text = "";
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
      text += Buffer.from(part.value).toString();
    return text;
  };
  return { status: response.status, ended: readToEnd() };
}
