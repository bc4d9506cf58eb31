"""Mode spectral for counts that do not fit in memory: the words are split into ranges, which are processed one by one.

rank_ranges     rank of each word of a segment, and rows of each range of words in the segment
gather_ranges   pairs of each range of words, added up over all segments, and transposed
word_ranges     both steps, and the pairs of each range of the vocabulary in the gathered files
ppmi_ranges     PPMI weights of each range of the vocabulary, in both directions
range_products  products of the weighted matrix and a table
factorization   all steps in order
stored_rows     rows of the last product, in files
progress        wrapper of products that reports progress
array_files     arrays in temporary files
pair_arrays     pairs in temporary files
"""
