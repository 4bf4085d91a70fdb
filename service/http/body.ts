/** Why a body was not taken. */
export type Unread = "too-large" | "cut-off";

/**
 * The body of a request, up to `limit` bytes. What a client says of its length is believed only when it is too
 * much: the bytes are counted as they come, and beyond the limit none is read.
 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array | Unread> {
  if (Number(request.headers.get("content-length")) > limit) return "too-large";
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // No `for await`: leaving it early would destroy the connection before the client has its answer.
    const reader = request.body?.getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      size += part.value.length;
      if (size > limit) return "too-large";
      chunks.push(part.value);
    }
  } catch {
    return "cut-off";
  }
  return joined(chunks, size);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Whether a request says that it has no body at all. */
export const hasNoBody = ({ headers }: Request): boolean =>
  !headers.has("transfer-encoding") && Number(headers.get("content-length") ?? 0) === 0;
