/**
 * Runs work one after another. Writers of one process wait here: at a file's lock they would block the event loop,
 * and at the server's lock each would hold a connection that readers need.
 */
export function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
}
