const actions: (() => unknown)[] = [];

/**
 * Runs an action after the last test of the current file. Test files share a process and the modules that they import:
 * `afterAll` in such a module would run after the first file only.
 */
export function afterFile(action: () => unknown): void {
  actions.push(action);
}

/** Runs what `afterFile` was given, the last first. */
export async function endFile(): Promise<void> {
  for (let action = actions.pop(); action; action = actions.pop()) await action();
}
