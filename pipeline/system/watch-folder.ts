import { watch } from "node:fs";

/** Debounce time in milliseconds, because editors write in several steps. */
const settling = 100;

/** Reports changes below a folder, except in hidden files. @returns a function that stops watching */
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
