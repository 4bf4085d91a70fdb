/**
 * Runs tasks one after another. Writers of one process wait here, because SQLite's file lock would block the
 * event loop, and PostgreSQL's lock would hold a connection that readers need.
 */
export function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
}
