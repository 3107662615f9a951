// SPDX-License-Identifier: MIT OR Apache-2.0
// A Verilated coprocessor behind a few C functions, for crates/sunseal-hdl. `build` compiles it with the model, gives MODEL
// its class, ROOT the class of its signals, EVAL what evaluates these, BUS_<NAME>, CLOCK_BEFORE what it remembers of the clock,
// and lists the flops in flops.inc.
#include <cstdint>
#include <cstring>

#include MODEL_HEADER
#include ROOT_HEADER
#include "verilated_save.h"

// Raise it when a function changes its meaning.
static const uint32_t kVersion = 3;
// So many clocks without a change of any flop: the inputs are as they were, so it rests. Registers that are no flop of
// ours (a memory's output) follow within two.
static const unsigned kStill = 8;

namespace {

// Bits that differ between two values of a register, whatever Verilator has made of it.
template <typename T> uint64_t differing(const T &a, const T &b) {
    return a == b ? 0 : static_cast<uint64_t>(__builtin_popcountll(static_cast<uint64_t>(a ^ b)));
}
template <std::size_t W> uint64_t differing(const VlWide<W> &a, const VlWide<W> &b) {
    uint64_t n = 0;
    for (std::size_t i = 0; i < W; i++)
        n += differing(a[i], b[i]);
    return n;
}
template <typename T, std::size_t N> uint64_t differing(const VlUnpacked<T, N> &a, const VlUnpacked<T, N> &b) {
    uint64_t n = 0;
    for (std::size_t i = 0; i < N; i++)
        n += differing(a[i], b[i]);
    return n;
}

template <typename T> uint64_t moved(T &before, const T &now) {
    if (before == now)
        return 0;
    const uint64_t n = differing(before, now);
    before = now;
    return n;
}

struct Flops {
#define FLOP(name) decltype(ROOT::name) name;
#include "flops.inc"
#undef FLOP
    void take(const ROOT &r) {
#define FLOP(name) name = r.name;
#include "flops.inc"
#undef FLOP
    }
    // Bits that have changed since, which are then as they are now.
    uint64_t toggled(const ROOT &r) {
        uint64_t n = 0;
#define FLOP(name) n += moved(name, r.name);
#include "flops.inc"
#undef FLOP
        return n;
    }
};

class Memory : public VerilatedSerialize {
  public:
    uint8_t *to;
    std::size_t room, size = 0;
    Memory(uint8_t *bytes, std::size_t capacity) : to(bytes), room(capacity) { m_isOpen = true; }
    ~Memory() override { flush(); }
    void flush() VL_MT_UNSAFE_ONE override {
        const std::size_t n = static_cast<std::size_t>(m_cp - m_bufp);
        if (size + n <= room)
            std::memcpy(to + size, m_bufp, n);
        size += n;
        m_cp = m_bufp;
    }
};

class Remembered : public VerilatedDeserialize {
    const uint8_t *from;
    std::size_t left;

  public:
    Remembered(const uint8_t *bytes, std::size_t size) : from(bytes), left(size) {
        m_isOpen = true;
        m_cp = m_endp = m_bufp;
        fill();
    }
    void close() VL_MT_UNSAFE_ONE override {}
    void flush() VL_MT_UNSAFE_ONE override {}
    void fill() VL_MT_UNSAFE_ONE override {
        const std::size_t kept = static_cast<std::size_t>(m_endp - m_cp);
        std::memmove(m_bufp, m_cp, kept);
        const std::size_t n = std::min(left, bufferSize() - kept);
        std::memcpy(m_bufp + kept, from, n);
        from += n;
        left -= n;
        m_cp = m_bufp;
        m_endp = m_bufp + kept + n;
    }
};

// A model is evaluated by who calls; Verilator starts a thread for each otherwise.
struct Context : VerilatedContext {
    Context() { threads(1); }
};

struct Node {
    Context context;
    MODEL model{&context};
    Flops before;
    alignas(ROOT) uint8_t kept[sizeof(ROOT)];
};

// Bit 0 of the inputs is the reset (low: in reset), bit 4 the slow clock, bit 0 of the outputs the interrupt; the rest is
// the bus's.
void put(MODEL &m, uint32_t in) {
    m.rst_ni = in & 1;
    m.tick_i = in >> 4 & 1;
#if defined(BUS_PARALLEL)
    m.toggle_i = in >> 1 & 1;
    m.lines_i = in >> 8 & 0xff;
#elif defined(BUS_SPI)
    m.sck_i = in >> 1 & 1;
    m.cs_ni = in >> 2 & 1;
    m.mosi_i = in >> 3 & 1;
#else
    m.rx_pin_i = in >> 1 & 1;
#endif
}

uint32_t get(const MODEL &m) {
#if defined(BUS_PARALLEL)
    const uint32_t lines = m.drive_o ? static_cast<uint32_t>(m.lines_o) << 8 : 0;
    return m.irq_o | static_cast<uint32_t>(m.drive_o) << 1 | lines;
#elif defined(BUS_SPI)
    return m.irq_o | static_cast<uint32_t>(m.miso_o) << 1;
#else
    return m.irq_o | static_cast<uint32_t>(m.tx_pin_o) << 1;
#endif
}

} // namespace

extern "C" {

uint32_t sunseal_hdl_version(void) {
    return kVersion;
}

Node *sunseal_hdl_new(void) {
    Node *n = new Node;
    put(n->model, 0);
    n->model.clk_i = 0;
    n->model.eval();
    n->before.take(*n->model.rootp);
    return n;
}

void sunseal_hdl_delete(Node *n) {
    // A model takes its scopes out of the thread's context, which is that of the last model made, maybe freed already.
    Verilated::threadContextp(&n->context);
    n->model.final();
    delete n;
    Verilated::threadContextp(nullptr);
}

// What sunseal_hdl_run answers: nothing changes any more until an input does; the clock comes to the flops nevertheless; its
// outputs may change by themselves; it wants the slow clock.
enum { kRests = 1, kClocked = 2, kByItself = 4, kTicked = 8 };

// Runs for so many periods of the clock, until the outputs are others than *out, or until it rests. Adds the periods, each
// a clock to the flops, and the flops' toggles. With no periods it only tells what it is about to do.
uint32_t sunseal_hdl_run(Node *n, uint32_t in, uint64_t most, uint32_t *out, uint64_t *periods, uint64_t *toggles) {
    MODEL &m = n->model;
    ROOT &r = *m.rootp;
    put(m, in);
    uint64_t done = 0;
    unsigned still = 0;
    m.clk_i = 0;
    EVAL(&r);
    while (done < most && m.clock_wanted_o && still < kStill) {
        // Nothing hangs on the falling edge: the model is told of it, and spared it.
        r.CLOCK_BEFORE = 0;
        m.clk_i = 1;
        EVAL(&r);
        done++;
        const uint64_t toggled = n->before.toggled(r);
        *toggles += toggled;
        still = toggled == 0 ? still + 1 : 0;
        const uint32_t now = get(m);
        if (now != *out) {
            *out = now;
            break;
        }
    }
    *periods += done;
    uint32_t told = !m.clock_wanted_o ? kRests : still == kStill ? kRests | kClocked : 0;
#if defined(GATED)
    told |= m.clock_wanted_o ? kByItself : 0;
    told |= m.tick_wanted_o ? kTicked : 0;
#else
    told |= r.XMIT_MODE ? kByItself : 0;
#endif
    return told;
}

// Register i of at most 64 bits: its value, name and width, 0 behind the last.
uint64_t sunseal_hdl_signal(const Node *n, uint32_t i, const char **name, uint32_t *bits) {
    static const struct {
        const char *name;
        uint32_t bits;
        uint64_t (*value)(const ROOT &);
    } kSignals[] = {
#define SIGNAL(name, bits) {#name, bits, [](const ROOT &r) -> uint64_t { return r.name; }},
#include "signals.inc"
#undef SIGNAL
    };
    *bits = 0;
    if (i >= sizeof kSignals / sizeof *kSignals)
        return 0;
    *name = kSignals[i].name;
    *bits = kSignals[i].bits;
    return kSignals[i].value(*n->model.rootp);
}

// One snapshot within the process, to take back what was run ahead.
void sunseal_hdl_keep(Node *n) {
    std::memcpy(n->kept, static_cast<const void *>(n->model.rootp), sizeof(ROOT));
}
void sunseal_hdl_back(Node *n) {
    std::memcpy(static_cast<void *>(n->model.rootp), n->kept, sizeof(ROOT));
    n->before.take(*n->model.rootp);
}

// Snapshots that outlast the process. Answers the bytes they take, more than `room` if they did not fit.
size_t sunseal_hdl_save(Node *n, uint8_t *to, size_t room) {
    Memory memory(to, room);
    memory << n->model;
    memory.flush();
    return memory.size;
}
void sunseal_hdl_restore(Node *n, const uint8_t *from, size_t size) {
    Remembered memory(from, size);
    memory >> n->model;
    n->before.take(*n->model.rootp);
}
}
