/** Node's options for a machine whose clock is wrong. @param milliseconds by which it is ahead */
export function movedClock(milliseconds: number): { nodeArgs: string[] } {
  const moved = `
    const Right = Date;
    globalThis.Date = class Date extends Right {
      constructor(...args) { super(...(args.length > 0 ? args : [Date.now()])); }
      static now() { return Right.now() + ${milliseconds}; }
    };`;
  return { nodeArgs: ["--import", `data:text/javascript,${encodeURIComponent(moved)}`] };
}
