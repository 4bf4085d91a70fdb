import { createHash } from "node:crypto";

/** An answer of S3: status, headers, body. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Stored {
  bytes: Buffer;
  etag: string;
  headers: Record<string, string>;
  /** Milliseconds since 1970; undefined: long ago. */
  modified?: number;
}

interface Upload {
  key: string;
  headers: Record<string, string>;
  /** Milliseconds since 1970. */
  begun: number;
  parts: Map<number, { bytes: Buffer; etag: string }>;
}

/** One request to a bucket. */
export interface Call {
  operation: string;
  key: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

const pageSize = 1000;
/** S3 has 1000 on a page, but a test has few uploads, and an upload of a test few parts. */
const uploadsPage = 2;
const partsPage = 2;

const md5 = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");
const escaped = (text: string) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const unescaped = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#\d+|#x[0-9a-f]+);/gi, (_, name: string) => {
    const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
    return named[name] ?? String.fromCodePoint(Number(name.replace("#x", "0x").replace("#", "")));
  });
const xml = (name: string, inside: string): Answer => ({
  status: 200,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?><${name}>${inside}</${name}>`,
});
const tags = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, "g"))].map(([, inside = ""]) =>
    unescaped(inside),
  );

export const refusal = (status: number, code: string): Answer => ({
  ...xml("Error", `<Code>${code}</Code><Message>${code} was asked for.</Message>`),
  status,
});

/** The objects of one bucket and its operations, which are atomic. */
export class Bucket {
  readonly objects = new Map<string, Stored>();
  readonly uploads = new Map<string, Upload>();
  /** Compares If-Match with the ETag without its quotes, as Ceph does. */
  unquoted = false;
  /** Completes an upload without its condition, as Ceph does. */
  completesAlways = false;
  /** Every part but the last one has at least this size. */
  minPartBytes = 5 * 1024 * 1024;
  /** Codes of the errors that DeleteObjects answers for single keys, in a response with status 200. */
  readonly undeletable = new Map<string, string>();
  /** Names of the conditions that it ignores, such as if-match. */
  ignored: readonly string[] = [];
  private begun = 0;

  answer(call: Call): Answer {
    switch (call.operation) {
      case "PutObject":
        return this.conditionFault(call) ?? this.store(call.key, call.body, headersOf(call), md5(call.body));
      case "GetObject":
      case "HeadObject":
        return this.read(call);
      case "ListObjectsV2":
        return this.list(call.query);
      case "DeleteObjects":
        return this.remove(tags(call.body.toString(), "Key"));
      case "CreateMultipartUpload": {
        const id = `upload-${++this.begun}`;
        this.uploads.set(id, {
          key: call.key,
          headers: headersOf(call),
          begun: Date.now(),
          parts: new Map(),
        });
        return xml("InitiateMultipartUploadResult", `<UploadId>${id}</UploadId>`);
      }
      case "ListMultipartUploads":
        return this.listUploads(call.query);
      default:
        return this.ofUpload(call);
    }
  }

  /** Another bucket with the same content, to change at will. */
  copy(): Bucket {
    const copy = new Bucket();
    for (const [key, object] of this.objects) copy.objects.set(key, object);
    for (const [id, upload] of this.uploads)
      copy.uploads.set(id, { ...upload, parts: new Map(upload.parts) });
    const { unquoted, completesAlways, minPartBytes, ignored, begun } = this;
    return Object.assign(copy, { unquoted, completesAlways, minPartBytes, ignored, begun });
  }

  private remove(keys: readonly string[]): Answer {
    if (keys.length > pageSize) return refusal(400, "MalformedXML");
    for (const key of keys) if (!this.undeletable.has(key)) this.objects.delete(key);
    const errors = keys.flatMap((key) => {
      const code = this.undeletable.get(key);
      return code === undefined ? [] : `<Error><Key>${escaped(key)}</Key><Code>${code}</Code></Error>`;
    });
    return xml("DeleteResult", errors.join(""));
  }

  private store(key: string, bytes: Buffer, headers: Record<string, string>, etag: string): Answer {
    this.objects.set(key, { bytes, headers, etag, modified: Date.now() });
    return { status: 200, headers: { etag: `"${etag}"` } };
  }

  private conditionFault({ key, headers }: Call): Answer | undefined {
    const there = this.objects.get(key);
    const held = Object.entries(headers).filter(([name]) => !this.ignored.includes(name));
    const { "if-match": match, "if-none-match": none } = Object.fromEntries(held);
    if (none === "*" && there) return refusal(412, "PreconditionFailed");
    if (match === undefined) return undefined;
    if (!there) return refusal(404, "NoSuchKey");
    return match === (this.unquoted ? there.etag : `"${there.etag}"`)
      ? undefined
      : refusal(412, "PreconditionFailed");
  }

  private read({ key, headers }: Call): Answer {
    const there = this.objects.get(key);
    if (!there) return refusal(404, "NoSuchKey");
    const { bytes, etag, modified = 0 } = there;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(String(headers.range ?? "")) ?? [];
    const answered = {
      ...there.headers,
      etag: `"${etag}"`,
      "content-length": String(bytes.length),
      "last-modified": new Date(modified).toUTCString(),
    };
    if (from === undefined) return { status: 200, headers: answered, body: bytes };
    const part = bytes.subarray(Number(from), to ? Number(to) + 1 : undefined);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
    const ofPart = { "content-range": range, "content-length": String(part.length) };
    return { status: 206, headers: { ...answered, ...ofPart }, body: part };
  }

  private list(query: URLSearchParams): Answer {
    const after = query.get("continuation-token") ?? "";
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after)
      .sort();
    const page = keys.slice(0, Math.min(pageSize, Number(query.get("max-keys") ?? pageSize)));
    const rows = page.map((key) => {
      const { bytes, etag, modified = 0 } = this.objects.get(key) as Stored;
      const date = new Date(modified).toISOString();
      return `<Contents><Key>${escaped(key)}</Key><LastModified>${date}</LastModified><Size>${bytes.length}</Size><ETag>&quot;${etag}&quot;</ETag></Contents>`;
    });
    const more = page.length < keys.length;
    const token = more ? `<NextContinuationToken>${escaped(page.at(-1) ?? "")}</NextContinuationToken>` : "";
    return xml("ListBucketResult", `<IsTruncated>${more}</IsTruncated>${token}${rows.join("")}`);
  }

  /** A page begins after the upload that the markers name. */
  private listUploads(query: URLSearchParams): Answer {
    const [prefix, marker] = [query.get("prefix") ?? "", query.get("upload-id-marker")];
    const all = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const from = all.findIndex(([id]) => id === marker) + 1;
    const page = all.slice(from, from + uploadsPage);
    const last = from + page.length < all.length ? page.at(-1) : undefined;
    const rows = page.map(
      ([id, { key, begun }]) =>
        `<Upload><Key>${escaped(key)}</Key><UploadId>${id}</UploadId><Initiated>${new Date(begun).toISOString()}</Initiated></Upload>`,
    );
    const next = last
      ? `<NextKeyMarker>${escaped(last[1].key)}</NextKeyMarker><NextUploadIdMarker>${last[0]}</NextUploadIdMarker>`
      : "";
    return xml(
      "ListMultipartUploadsResult",
      `<IsTruncated>${last !== undefined}</IsTruncated>${next}${rows.join("")}`,
    );
  }

  private ofUpload(call: Call): Answer {
    const id = call.query.get("uploadId") ?? "";
    const upload = this.uploads.get(id);
    if (!upload || upload.key !== call.key) return refusal(404, "NoSuchUpload");
    switch (call.operation) {
      case "UploadPart": {
        const etag = md5(call.body);
        upload.parts.set(Number(call.query.get("partNumber")), { bytes: call.body, etag });
        return { status: 200, headers: { etag: `"${etag}"` } };
      }
      case "ListParts":
        return listParts(upload, Number(call.query.get("part-number-marker") ?? 0));
      case "AbortMultipartUpload":
        this.uploads.delete(id);
        return { status: 204 };
      case "CompleteMultipartUpload":
        return (
          (this.completesAlways ? undefined : this.conditionFault(call)) ??
          this.complete(id, upload, call.body.toString())
        );
      default:
        return refusal(501, "NotImplemented");
    }
  }

  private complete(id: string, { key, headers, parts }: Upload, body: string): Answer {
    const etags = tags(body, "ETag").map((etag) => etag.replaceAll('"', ""));
    const chosen = tags(body, "PartNumber").map((number) => parts.get(Number(number)));
    if (chosen.some((part, index) => part === undefined || part.etag !== etags[index]))
      return refusal(400, "InvalidPart");
    const bytes = chosen.map((part) => part?.bytes ?? Buffer.alloc(0));
    if (bytes.slice(0, -1).some(({ length }) => length < this.minPartBytes))
      return refusal(400, "EntityTooSmall");
    const digests = Buffer.concat(etags.map((etag) => Buffer.from(etag, "hex")));
    const etag = `${md5(digests)}-${etags.length}`;
    this.store(key, Buffer.concat(bytes), headers, etag);
    this.uploads.delete(id);
    return xml("CompleteMultipartUploadResult", `<Key>${escaped(key)}</Key><ETag>&quot;${etag}&quot;</ETag>`);
  }
}

function listParts({ parts }: Upload, after: number): Answer {
  const numbers = [...parts.keys()].filter((number) => number > after).sort((a, b) => a - b);
  const page = numbers.slice(0, partsPage);
  const rows = page.map((number) => {
    const { bytes, etag } = parts.get(number) as { bytes: Buffer; etag: string };
    return `<Part><PartNumber>${number}</PartNumber><Size>${bytes.length}</Size><ETag>&quot;${etag}&quot;</ETag></Part>`;
  });
  const more = page.length < numbers.length;
  const marker = more ? `<NextPartNumberMarker>${page.at(-1)}</NextPartNumberMarker>` : "";
  return xml("ListPartsResult", `<IsTruncated>${more}</IsTruncated>${marker}${rows.join("")}`);
}

const headersOf = ({ headers }: Call): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      /^(content-type|content-encoding|cache-control|x-amz-meta-.*)$/.test(name)
        ? [[name, String(value)]]
        : [],
    ),
  );
