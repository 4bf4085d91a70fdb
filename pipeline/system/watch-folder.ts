import { watch } from "node:fs";

/** Editors write in several steps: what follows within this time counts as one change. */
const settling = 100;

/**
 * Tells of changes below a folder, hidden files left aside.
 * @returns ends it
 */
export function watchFolder(folder: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name?.split("/").some((part) => part.startsWith("."))) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, settling);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
