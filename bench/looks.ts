/**
 * Asks all workers of a bench for what they have measured since the last time; each answers on the channel of answers (their
 * programs are the files watched-worker.ts).
 */
export function createLooks<Look>(workers: number): () => Promise<readonly Look[]> {
  const asking = new BroadcastChannel("looks");
  const answers = new BroadcastChannel("answers");
  return async () => {
    const looks: Look[] = [];
    const { promise, resolve } = Promise.withResolvers<readonly Look[]>();
    const onLook = (event: Event): void => {
      looks.push((event as MessageEvent & { readonly data: Look }).data);
      if (looks.length === workers) resolve(looks);
    };
    answers.addEventListener("message", onLook);
    asking.postMessage(undefined);
    await promise;
    answers.removeEventListener("message", onLook);
    return looks;
  };
}
