import type { Result } from "@svc-gateway/common/values/result.ts";
import type { CaPem } from "./certificate-authority.ts";

/** The content of the Secret of the certificate authority. */
export type CaContent = CaPem & {
  /**
   * Replaced roots that are still trusted (`formatRetiredRoots`), under a separate key; empty if there are none. They
   * are stored beside the private key and not in the published bundle, because a user who may edit the bundle must not
   * be able to make controllers trust a root.
   */
  readonly retiredPem: string;
};

/**
 * The storage of the certificate authority. Its errors are those of the store, such as an API server that does not
 * respond.
 */
export type CaStore = {
  /** Reads the present content; undefined if there is none. */
  read(): Promise<Result<CaContent | undefined>>;
  /**
   * Replaces `expected`, or creates the content if that is undefined. Returns `conflict`, without writing, if the
   * stored content is not the expected one.
   */
  write(content: CaContent, expected: CaContent | undefined): Promise<Result<"written" | "conflict">>;
  /** Publishes the trust bundle for proxies. A bundle that is already published is not written again. */
  publishTrust(bundlePem: string): Promise<Result<void>>;
  /** Calls back after the content may have changed; the returned function ends that. */
  watch(onChange: () => void): () => void;
};
