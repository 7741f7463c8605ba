// Places on the number line, and round numbers to label it with.

export function scaleFor(kind, edges, left, right) {
  return kind === "log" ? logarithmic(edges, left, right) : linear(edges, left, right);
}

function linear(edges, left, right) {
  const [low, high] = [edges[0], edges.at(-1)];
  const place = (value) => left + ((value - low) / (high - low)) * (right - left);
  return { place, ticks: () => roundNumbers(low, high, Math.max(3, (right - left) / 80)) };
}

/** Where the first edge is zero, zero has the first bar for itself. */
function logarithmic(edges, left, right) {
  const zero = edges[0] === 0;
  const low = Math.log(zero ? edges[1] : edges[0]);
  const high = Math.log(edges.at(-1));
  const start = zero ? left + (right - left) / (edges.length - 1) : left;
  const place = (value) => {
    if (value <= 0) return left + (start - left) / 2;
    return Math.max(start + ((Math.log(value) - low) / (high - low)) * (right - start), left);
  };
  return {
    place: (value) => (zero && value === edges[0] ? left : place(value)),
    ticks: () => [...(zero ? [0] : []), ...powers(Math.exp(low), Math.exp(high))],
  };
}

/** About `count` multiples of 1, 2 or 5 times a power of ten. */
export function roundNumbers(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => rounded((first + index) * step));
}

/** Powers of ten between two numbers; where those are few, also their multiples by 2 and 5. */
export function powers(low, high) {
  const decades = Math.log10(high / low);
  if (decades < 1) return roundNumbers(low, high, 5).filter((value) => value > 0);
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of decades > 3 ? [1] : [1, 2, 5]) {
      const value = rounded(factor * 10 ** power);
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}

function rounded(value) {
  return Number(value.toPrecision(12));
}

/** A number for people: at most four digits that matter. */
export function format(value) {
  if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-4)) {
    return value.toExponential(1).replace("e+", "e").replace(".0e", "e");
  }
  const short = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
  return short.toLocaleString("en", { maximumFractionDigits: 6 });
}

export function percent(share) {
  if (share > 0 && share < 0.001) return "<\u20090.1\u00a0%";
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%`;
}
