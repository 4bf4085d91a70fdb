import { type CabinetFile, cabinetMagic, type FileSink, openCabinet } from "../../archives/cabinet.ts";
import type { Storage, Stream } from "../../archives/compound-file.ts";
import { bytesSource } from "../../bytes/byte-source.ts";
import { heldFile, tooLarge } from "../../held-file.ts";
import type { FileSignature, Found, Inspection, InspectOptions } from "../../inspection.ts";
import type { SelfCheckFinder } from "../../self-check.ts";
import { Fault, type Verdict } from "../../verdict.ts";
import { isPe } from "../pe/layout.ts";
import { peSignature } from "../pe/pe.ts";
import { type MsiTables, streamName } from "./tables.ts";

interface Into {
  options: InspectOptions;
  finder: SelfCheckFinder;
  found: Found;
}

/** Reads the cabinets, and the programs that the installer itself runs. @throws Fault */
export async function readMsiContents(root: Storage, tables: MsiTables, into: Into): Promise<Verdict> {
  const signatures: FileSignature[] = [];
  const notes: string[] = [];
  into.found.file_signatures = signatures;
  const names = fileNames(tables);
  let current = "";
  const sink = (file: CabinetFile) => {
    current = names.get(file.name) ?? file.name;
    return fileSink(current, file.size, into, signatures);
  };
  // A broken cabinet means that the current file differs from the packed one, regardless of the cause.
  const broken = ({ verdict }: Fault) => {
    if (current !== "") signatures.push({ name: current, signature: null, verdict });
  };
  let limit = into.options.limit;
  for (const { entry, content } of root.streams) {
    const name = streamName(entry.name);
    const head = content.size < 4 ? Buffer.alloc(0) : Buffer.from(content.read(0, 4));
    const named = { ...content, name };
    current = "";
    if (head.equals(cabinetMagic)) limit -= await extracted(named, { limit, sink, broken, notes });
    else if (name.startsWith("Binary.") && isPe(head))
      signatures.push(asFile(name, await peSignature(named, into.options)));
  }
  for (const [cabinet = ""] of tables.rows("Media", ["Cabinet"])) {
    if (cabinet !== "" && !cabinet.startsWith("#"))
      notes.push(`${cabinet} is next to the installer: its files were not checked`);
  }
  into.found.notes = [...(into.found.notes ?? []), ...notes];
  return "ok";
}

/** The cabinet lists files by key; the table maps each key to `short|long` names. */
function fileNames(tables: MsiTables): Map<string, string> {
  const names = new Map<string, string>();
  for (const [key = "", name = ""] of tables.rows("File", ["File", "FileName"]))
    names.set(key, name.split("|").at(-1) ?? name);
  return names;
}

interface Extraction {
  limit: number;
  sink: (file: CabinetFile) => FileSink;
  broken: (fault: Fault) => void;
  notes: string[];
}

async function extracted(content: Stream["content"], to: Extraction): Promise<number> {
  try {
    return await openCabinet(content).extract(to.limit, to.sink);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.verdict !== "unsupported-format") {
      to.broken(error);
      throw error;
    }
    to.notes.push(`${error.message}: its files were not looked at`);
    return 0;
  }
}

function fileSink(
  name: string,
  size: number,
  { finder, options }: Into,
  signatures: FileSignature[],
): FileSink {
  const scan = finder.file(name);
  const held = heldFile(size, isPe);
  return {
    write(chunk) {
      scan?.(chunk);
      held.write(chunk);
    },
    async end() {
      const bytes = held.bytes();
      if (bytes === "too-large") signatures.push(tooLarge(name));
      else if (bytes) signatures.push(asFile(name, await peSignature(bytesSource(bytes, name), options)));
      held.release();
    },
  };
}

function asFile(name: string, { signature, verdict }: Inspection): FileSignature {
  if (!signature) return { name, signature, verdict };
  const { signer, fingerprint } = signature;
  return { name, signature: { signer, fingerprint }, verdict };
}
