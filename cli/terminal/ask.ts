type Input = NodeJS.ReadStream;

/** Input that was read beyond the requested line. */
const unread = new WeakMap<Input, string>();

interface Dialogue {
  input: Input;
  messages: NodeJS.WriteStream;
  /** Ctrl-C, which raw mode delivers like any other key. */
  interrupt: () => void;
}

/** Asks at a terminal; otherwise reads the next line of standard input without a prompt. */
export function ask(question: string, isSecret: boolean, dialogue: Dialogue): Promise<string | undefined> {
  const { input, messages } = dialogue;
  if (!input.isTTY) return nextLine(input);
  // Set before the question, so that keys typed early are hidden too.
  if (isSecret) input.setRawMode(true);
  messages.write(`${question}: `);
  return isSecret ? unseenLine(dialogue) : nextLine(input);
}

async function nextLine(input: Input): Promise<string | undefined> {
  let rest = unread.get(input) ?? "";
  while (!rest.includes("\n")) {
    const more = await nextChunk(input);
    if (more !== undefined) rest += more;
    else if (rest === "") return undefined;
    else rest += "\n";
  }
  const end = rest.indexOf("\n");
  const line = rest.slice(0, end).replace(/\r$/, "");
  unread.set(input, rest.slice(end + 1));
  return line;
}

/** Reads only while a question is open, because a flowing input would keep the process running. */
function nextChunk(input: Input): Promise<string | undefined> {
  if (input.readableEnded) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const settle = (chunk?: string | Buffer) => {
      input.pause();
      input.off("data", settle).off("end", settle);
      resolve(chunk === undefined ? undefined : String(chunk));
    };
    input.setEncoding("utf8").once("data", settle).once("end", settle).resume();
  });
}

const [controlC, controlD, backspace, erase] = ["\u0003", "\u0004", "\u007f", "\b"];

/** Raw mode does not echo input, so editing keys must be handled here. */
async function unseenLine({ input, messages, interrupt }: Dialogue): Promise<string | undefined> {
  let line = "";
  try {
    for (;;) {
      const chunk = await nextChunk(input);
      for (const key of chunk ?? controlD) {
        if (key === "\r" || key === "\n") return line;
        if (key === controlD) return line === "" ? undefined : line;
        if (key === controlC) {
          interrupt();
          return undefined;
        }
        line = key === backspace || key === erase ? [...line].slice(0, -1).join("") : line + key;
      }
    }
  } finally {
    input.setRawMode(false);
    messages.write("\n");
  }
}
