import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";

export interface RawAnswer {
  /** Status of every answer, in order. */
  statuses: number[];
  text: string;
  /** Bytes that the server accepted before it closed. */
  sent: number;
}

/** Sends bytes unchanged, and reads until the server closes the connection. */
export function raw(url: string, ...pieces: (string | Uint8Array)[]): Promise<RawAnswer> {
  return talk(url, async (socket) => {
    for (const piece of pieces) socket.write(piece);
  });
}

/** @param write sends the data; the server must close the connection, or the test times out */
export function talk(url: string, write: (socket: Socket) => Promise<unknown>): Promise<RawAnswer> {
  const { protocol, hostname, port } = new URL(url);
  const place = { host: hostname, port: Number(port) };
  const socket =
    protocol === "https:" ? connectSecurely({ ...place, rejectUnauthorized: false }) : connect(place);
  let text = "";
  socket.setEncoding("latin1").on("data", (part) => {
    text += part;
  });
  // A reset is a normal end; only the bytes before it matter.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const ready = new Promise<void>((resolve) =>
    socket.once(protocol === "https:" ? "secureConnect" : "connect", () => resolve()),
  );
  return ready
    .then(() => Promise.race([write(socket), closed]))
    .then(() => closed)
    .then(() => ({ statuses: statusesOf(text), text, sent: socket.bytesWritten }));
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
    .map(([, status]) => Number(status))
    .filter((status) => status !== 100);

/** The lines of a request, and its body. */
export const request = (lines: readonly string[], body = ""): string =>
  `${lines.join("\r\n")}\r\n\r\n${body}`;

/** Writes until the server stops reading. */
export async function pour(
  socket: { write(data: Uint8Array): boolean; once(event: "drain", then: () => void): unknown },
  head: string,
  pieces: number,
) {
  const piece = new Uint8Array(64 * 1024).fill(0x20);
  socket.write(Buffer.from(head));
  for (let index = 0; index < pieces; index++) {
    if (!socket.write(piece)) await new Promise<void>((resolve) => void socket.once("drain", resolve));
  }
}
