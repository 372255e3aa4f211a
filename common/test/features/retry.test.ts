import { expect } from "chai";
import { retry, retrySchema } from "../../src/features/retry.ts";

describe("retry", () => {
  const { parse } = retry.annotations.retry;

  it("retry: the annotation is a reference", () => {
    expect(parse("infra/twice", () => {})).to.deep.equal({
      ok: true,
      value: { namespace: "infra", name: "twice" },
    });
    expect(parse("twice", () => {}).ok).to.equal(false);
  });

  it("retry: the snapshot rejects values out of range", () => {
    const accepts = (value: object): boolean => retrySchema.safeParse(value).success;
    const full = { attempts: 1, codes: [503], backoffMs: 0.5, grpcCodes: [14] };
    expect(accepts(full)).to.equal(true);
    const wrong = [
      { attempts: 0 },
      { codes: [600] },
      { backoffMs: 0 },
      { grpcCodes: [0] },
      { grpcCodes: [17] },
    ];
    for (const change of wrong)
      expect(accepts({ ...full, ...change }), JSON.stringify(change)).to.equal(false);
  });
});
