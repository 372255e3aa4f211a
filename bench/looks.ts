/**
 * Requests from all workers of a bench their measurements since the previous request. Workers answer on the channel
 * "answers"; their programs are the files watched-worker.ts.
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
