#include "pool_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plurule {
namespace {

using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr std::size_t BLOCK = 4 * sizeof(Bytes);  // bodies that are counted at once
constexpr std::size_t MOST_ROWS = 255;            // so many can be counted in a byte

template <class Visit>
void for_each_row(const std::uint64_t* words, std::size_t n_words, Visit&& visit) {
    for (std::size_t word = 0; word < n_words; ++word)
        for (std::uint64_t left = words[word]; left; left &= left - 1) visit(word * 64 + std::size_t(std::countr_zero(left)));
}

}  // namespace

RowBits::RowBits(const std::uint8_t* bytes, std::size_t lines, std::size_t n_bytes)
    : n_lines(lines), n_words((n_bytes + 7) / 8), words(lines * n_words) {
    for (std::size_t line = 0; line < lines; ++line)
        for (std::size_t i = 0; i < n_bytes; ++i) words[line * n_words + i / 8] |= std::uint64_t(bytes[line * n_bytes + i]) << i % 8 * 8;
}

PoolRows::PoolRows(std::size_t n_rows, RowBits holds, RowBits open, RowBits present, std::vector<double> weights)
    : holds_(std::move(holds)), open_(std::move(open)), present_(std::move(present)),
      stride_((n_bodies() + BLOCK - 1) / BLOCK * BLOCK), held_(n_rows * stride_), weights_(std::move(weights)) {
    for (std::size_t body = 0; body < n_bodies(); ++body)
        for_each_row(holds_.line(body), holds_.n_words, [&](std::size_t row) { held_[row * stride_ + body] = 1; });
}

void PoolRows::take(const std::vector<PoolSelection::CoverUpdate>& asked, double* sums) const {
    std::map<std::vector<std::uint64_t>, const double*> known;  // sums over rows: labels that nothing has decided share them
    const PoolSelection::CoverUpdate* last = nullptr;
    std::vector<std::uint64_t> covered, all, right;
    for (const PoolSelection::CoverUpdate& update : asked) {
        if (!last || last->body != update.body || last->before != update.before) {
            covered.assign(holds_.line(update.body), holds_.line(update.body) + holds_.n_words);
            for (const std::uint32_t other : update.before)
                for (std::size_t word = 0; word < covered.size(); ++word) covered[word] &= ~holds_.line(other)[word];
            last = &update;
        }
        all = right = covered;
        for (std::size_t word = 0; word < all.size(); ++word) {
            all[word] &= open_.line(update.label)[word];
            right[word] = all[word] & present_.line(update.label)[word];
        }
        add(right, sums);
        sums += n_bodies();
        if (const auto same = known.find(all); same != known.end())
            std::copy_n(same->second, n_bodies(), sums);
        else
            add(all, sums), known.emplace(all, sums);
        sums += n_bodies();
    }
}

void PoolRows::select(PoolSelection& selection) const {
    std::vector<double> sums;
    for (auto updates = selection.choose(1); !updates.empty(); updates = selection.choose(1)) {
        sums.assign(updates.size() * 2 * n_bodies(), 0.0);
        take(updates, sums.data());
        selection.update(sums.data());
    }
}

// Adds the weight of the rows that each body covers: those of one weight are counted, in bytes.
void PoolRows::add(const std::vector<std::uint64_t>& words, double* sums) const {
    std::vector<std::size_t> rows;
    for_each_row(words.data(), words.size(), [&](std::size_t row) { rows.push_back(row); });
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        const double weight = weights_.empty() ? 1.0 : weights_[rows[begin]];
        const std::size_t most = std::min(begin + MOST_ROWS, rows.size());
        for (end = weights_.empty() ? most : begin; end < most && weights_[rows[end]] == weight;) ++end;
        for (std::size_t block = 0; block < stride_; block += BLOCK) {
            Bytes counts[4] = {}, held[4];
            for (std::size_t i = begin; i < end; ++i) {
                std::memcpy(held, held_.data() + rows[i] * stride_ + block, BLOCK);
                for (std::size_t j = 0; j < 4; ++j) counts[j] += held[j];
            }
            std::uint8_t counted[BLOCK];
            std::memcpy(counted, counts, BLOCK);
            for (std::size_t body = block; body < std::min(block + BLOCK, n_bodies()); ++body)
                sums[body] += weight * counted[body - block];
        }
    }
}

}  // namespace plurule
